import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonObject } from "../json/value.ts";
import type { CheckState } from "./check-state.ts";
import { useExactKeywords } from "./exact-keywords.ts";
import type { Patterns } from "./pattern.ts";
import type { EffectiveSchema } from "./schema-node.ts";
import type { FaultList } from "./schema-rejected.ts";

/** The drafts of JSON Schema that a tool may use. */
export type Dialect = "draft-07" | "2019-09" | "2020-12";

const CLASSES = { "draft-07": Ajv, "2019-09": Ajv2019, "2020-12": Ajv2020 } as const;

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ["json-schema.org/draft-07/schema", "draft-07"],
  ["json-schema.org/draft/2019-09/schema", "2019-09"],
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
]);

/** Judges documents, never tool schemas: what it compiles is only the meta-schemas, so it is shared. */
const judges = new Map<Dialect, Ajv>();

/** The dialects to try for a document, in this order. Lists a fault and returns none for a `$schema` that is not known. */
export function dialectsOf(document: JsonObject, faults: FaultList): readonly Dialect[] {
  const name = document["$schema"];
  if (name === undefined) return ["2020-12", "draft-07"];
  const dialect =
    typeof name === "string" ? DIALECTS.get(name.replace(/^https?:\/\//, "").replace(/#$/, "")) : undefined;
  if (dialect !== undefined) return [dialect];
  faults.add("/$schema", "dialect_not_supported", `must be one of ${[...DIALECTS.keys()].join(", ")}.`);
  return [];
}

/** Lists where a document is not valid against the meta-schema of the dialect. It must hold no `bigint`. */
export function checkAgainstMetaSchema(document: JsonObject, dialect: Dialect, faults: FaultList): void {
  const judge =
    judges.get(dialect) ?? new CLASSES[dialect]({ strict: false, logger: false, validateFormats: false });
  judges.set(dialect, judge);
  if (judge.validateSchema({ ...document, $schema: metaSchemaOf(dialect) })) return;
  for (const { instancePath, message, params } of judge.errors ?? []) {
    const allowed = "allowedValues" in params ? ` (${(params["allowedValues"] as string[]).join(", ")})` : "";
    faults.add(instancePath, "schema_invalid", `${message ?? "is not valid"}${allowed}.`);
  }
}

function metaSchemaOf(dialect: Dialect): string {
  const [url = ""] = [...DIALECTS].find(([, name]) => name === dialect) ?? [];
  return dialect === "draft-07" ? `http://${url}#` : `https://${url}`;
}

const OPTIONS = {
  strict: false,
  logger: false,
  meta: false,
  validateSchema: false,
  // A function for every target: inlining would repeat its code at each reference.
  inlineRefs: false,
  ownProperties: true,
  // Errors say which subschema they come from.
  verbose: true,
} as const satisfies Options;

/** Characters of a `url`; the expression that ajv-formats has for it takes quadratic time. */
const MAX_URL_LENGTH = 2_048;

/** What every check of one tool shares. */
export interface CheckParts {
  readonly dialect: Dialect;
  readonly state: CheckState;
  readonly patterns: Patterns;
}

/** An ajv instance that has compiled the targets of one tool. With `allErrors` it reports every error. */
export function createAjv(parts: CheckParts, targets: EffectiveSchema["targets"], allErrors: boolean): Ajv {
  const { dialect, state, patterns } = parts;
  const regExp = Object.assign((source: string) => patterns.get(source), { code: "linear" });
  const ajv = new CLASSES[dialect]({
    ...OPTIONS,
    allErrors,
    code: { regExp, optimize: false },
  });
  addFormats.default(ajv);
  const url = ajv.formats["url"];
  ajv.addFormat("url", (text: string) => {
    state.charge((text.length ** 2) >> 10);
    return text.length <= MAX_URL_LENGTH && url instanceof RegExp && url.test(text);
  });
  useExactKeywords(ajv, state);
  for (const [name, target] of targets) ajv.addSchema(target, name);
  for (const name of targets.keys()) ajv.getSchema(name);
  return ajv;
}
