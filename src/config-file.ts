import { readFileSync } from "node:fs";
import { Ajv, type ErrorObject } from "ajv";
import { type Document, parseDocument } from "yaml";
import { ConfigError, type ConfigFault, suggest } from "./config-faults.ts";
import { SETTINGS, type Settings } from "./config-schema.ts";
import type { SettingSchema } from "./config-shapes.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the text of a file, or throws an error whose `code` is `ENOENT` where there is none. */
export type ReadFile = (path: string) => string;

const DEFAULT_FILE = "config/toolweir.yaml";
const REFERENCE = /\$\{([^}]*)\}?/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const WHOLE_NUMBER = /^-?\d{1,15}$/;
const DECIMAL = /^\d{1,7}(\.\d{1,6})?$/;

const readText: ReadFile = (path) => readFileSync(path, "utf8");

/** Which file holds the settings. The default one need not exist. */
export function configFile(env: Environment): string {
  return env["TOOLWEIR_CONFIG"] || DEFAULT_FILE;
}

/**
 * The settings of the file with `${NAME}` resolved from the environment and all defaults filled in. An empty value is as good
 * as none. Throws `ConfigError` with every fault of the first step that fails: reading, syntax, variables, shape.
 */
export function readSettings(env: Environment, readFile: ReadFile = readText): Settings {
  const file = configFile(env);
  const reader = new Resolver(env, file);
  const settings = reader.resolve(parse(load(file, env, readFile), file), SETTINGS, "") ?? {};
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return check(settings, file);
}

function load(file: string, env: Environment, readFile: ReadFile): string {
  try {
    return readFile(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    if (code === "ENOENT" && !env["TOOLWEIR_CONFIG"]) return "";
    const why = env["TOOLWEIR_CONFIG"] ? "TOOLWEIR_CONFIG names it, " : "";
    throw new ConfigError([{ file, path: "the file", expected: `to be readable (${why}${code})` }]);
  }
}

function parse(text: string, file: string): unknown {
  const document: Document = parseDocument(text, { prettyErrors: false });
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    throw new ConfigError(
      problems.map(({ pos, message }) => ({
        file,
        path: place(text, pos[0]),
        expected: `YAML (${message.split(":")[0]})`,
      })),
    );
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch {
    throw new ConfigError([{ file, path: "the file", expected: "YAML with fewer or no aliases" }]);
  }
  const circle = circleIn(value, "", []);
  if (circle === undefined) return value;
  throw new ConfigError([
    { file, path: circle || "the file", expected: "no alias that leads back to itself" },
  ]);
}

/** The path of a value that holds itself, which an alias can bring about. */
function circleIn(value: unknown, path: string, above: readonly object[]): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (above.includes(value)) return path;
  const inner = [...above, value];
  for (const [key, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const found = circleIn(member, at, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function place(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** Replaces `${NAME}` in all strings. The schema goes along, to make a number of a variable where one is wanted. */
class Resolver {
  readonly faults: ConfigFault[] = [];
  readonly #env: Environment;
  readonly #file: string;

  constructor(env: Environment, file: string) {
    this.#env = env;
    this.#file = file;
  }

  resolve(value: unknown, schema: SettingSchema | undefined, path: string): unknown {
    if (value === null) return undefined;
    if (typeof value === "string") return this.#text(value, schema, path);
    if (Array.isArray(value)) {
      return value.map((item, index) => this.resolve(item, schema?.items, `${path}[${index}]`));
    }
    if (typeof value !== "object") return value;
    const members = Object.entries(value).map(([name, member]) => {
      return [name, this.resolve(member, property(schema, name), path ? `${path}.${name}` : name)];
    });
    return Object.fromEntries(members.filter(([, member]) => member !== undefined));
  }

  #text(value: string, schema: SettingSchema | undefined, path: string): string | number | undefined {
    if (!value.includes("${")) return value;
    // An upstream without a key is a good setting: clients bring theirs. Every other gap is a mistake.
    const optional = /^upstreams\[\d+\]\.api_key$/.test(path);
    const text = value.replace(REFERENCE, (reference, name: string) => {
      const found = this.#env[name];
      if (found !== undefined && VARIABLE.test(name) && reference.endsWith("}")) return found;
      if (!VARIABLE.test(name) || !reference.endsWith("}")) {
        this.#fault(path, `\${NAME} with the name of an environment variable, not ${reference}`);
      } else if (!optional) {
        this.#fault(path, `the environment variable ${name} to be set`);
      }
      return "";
    });
    if (schema?.type === "integer" && WHOLE_NUMBER.test(text)) return Number(text);
    return schema?.type === "number" && DECIMAL.test(text) ? Number(text) : text;
  }

  #fault(path: string, expected: string): void {
    this.faults.push({ file: this.#file, path, expected });
  }
}

function property(schema: SettingSchema | undefined, name: string): SettingSchema | undefined {
  const properties = schema?.properties;
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function check(settings: unknown, file: string): Settings {
  const valid = new Ajv({ allErrors: true, verbose: true, useDefaults: true }).compile<Settings>(SETTINGS);
  if (valid(settings)) return settings;
  const errors = valid.errors ?? [];
  throw new ConfigError(errors.map((error) => ({ file, ...explain(error) })));
}

function explain(error: ErrorObject): { path: string; expected: string } {
  const path = error.instancePath
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".");
  const below = (name: string) => (path ? `${path}.${name}` : name);
  const schema = error.parentSchema as SettingSchema | undefined;
  const { additionalProperty, missingProperty } = error.params;
  if (typeof additionalProperty === "string") {
    const names = Object.keys(schema?.properties ?? {});
    return {
      path: below(additionalProperty),
      expected: suggest("a known setting", additionalProperty, names),
    };
  }
  if (typeof missingProperty === "string") {
    return {
      path: below(missingProperty),
      expected: property(schema, missingProperty)?.description ?? "a value",
    };
  }
  return { path: path || "the file", expected: schema?.description ?? "another value" };
}
