import type { ErrorDetail } from "../../errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { nearest } from "../schema/nearest.ts";
import { Patterns } from "../schema/pattern.ts";
import type { ExpressionRule, NormalizeStep, RemoteRule, ToolDefinition, ToolGuard } from "../tool.ts";
import { type AllowUrl, checkEndpoint, declaredProperties } from "../tool-endpoint.ts";
import { compileExpression, type Expression, type ExpressionContext } from "./expression.ts";
import { type Guard, readAllowed } from "./guard.ts";
import { Meter } from "./meter.ts";
import type { Normaliser } from "./normaliser.ts";
import { makesNumbers, readStep, type Step } from "./steps.ts";
import { type CompiledCheck, type CompiledRemote, ToolRules } from "./tool-rules.ts";
import { EACH, parseValuePath, type ValuePath } from "./value-path.ts";

/** The members of a definition that this is about; their form is checked already. */
export type RuleMembers = Pick<ToolDefinition, "normalize" | "defaults" | "rules" | "guard" | "parameters">;

/**
 * Compiles the rules of a tool whose schema is `schema`. Faults are added to `faults`; with any, what is returned is not to be
 * used.
 *
 * 1. Every parameter that a rule names is declared.
 * 2. Defaults are valid against the schema as they stand.
 * 3. Expressions are checked as `compileExpression` says, URLs as those of tools.
 */
export function readRules(
  members: RuleMembers,
  schema: CompiledSchema,
  allowUrl: AllowUrl,
  faults: ErrorDetail[],
): ToolRules {
  return new RuleReader(members, allowUrl, faults).read(schema);
}

class RuleReader {
  readonly #members: RuleMembers;
  readonly #allowUrl: AllowUrl;
  readonly #faults: ErrorDetail[];
  readonly #declared: ReadonlySet<string>;
  readonly #context: ExpressionContext;

  constructor(members: RuleMembers, allowUrl: AllowUrl, faults: ErrorDetail[]) {
    this.#members = members;
    this.#allowUrl = allowUrl;
    this.#faults = faults;
    this.#declared = declaredProperties(members.parameters);
    const known = new Map([
      ["args", this.#declared],
      ["session", new Set(["id"])],
      ["caller", new Set(["name", "level"])],
    ]);
    const meter = new Meter();
    this.#context = { meter, patterns: new Patterns(meter), known };
  }

  read(schema: CompiledSchema): ToolRules {
    const { normalize = {}, defaults = {}, rules = [], guard } = this.#members;
    const normalisers = Object.entries(normalize).map(([path, steps]) => this.#normaliser(path, steps));
    this.#checkDefaults(defaults, schema);
    const checks: CompiledCheck[] = [];
    const remotes: CompiledRemote[] = [];
    for (const [at, rule] of rules.entries()) this.#rule(rule, `rules[${at}]`, checks, remotes);
    const parts = { normalisers, defaults, checks, remotes, guard: guard && this.#guard(guard) };
    return new ToolRules({ ...parts, meter: this.#context.meter });
  }

  #fault(reason: string, path: string, message: string): void {
    this.#faults.push({ reason, path, message });
  }

  /** The path of a parameter, whose first name is declared. */
  #parameter(text: string, at: string): ValuePath {
    const path = parseValuePath(text);
    if (path === undefined) {
      this.#fault(
        "invalid_value",
        at,
        `"${at}": "${text}" is no parameter; write city, stops[].city or range.from.`,
      );
      return [];
    }
    const [name] = path;
    if (typeof name === "string" && !this.#declared.has(name)) this.#undeclared(name, at);
    return path;
  }

  #undeclared(name: string, at: string): void {
    const [near] = nearest(name, [...this.#declared]);
    const hint = near ? `; did you mean "${near}"?` : ".";
    this.#fault("unknown_parameter", at, `"${at}": "${name}" is not a property in "parameters"${hint}`);
  }

  #normaliser(name: string, steps: readonly NormalizeStep[]): Normaliser {
    const at = `normalize.${name}`;
    const path = this.#parameter(name, at);
    const read = steps.map((step, index) => readStep(step, `${at}[${index}]`));
    this.#faults.push(...read.filter((step) => typeof step !== "function"));
    const types = declaredTypes(this.#members.parameters, path);
    const number = steps.findIndex(makesNumbers);
    if (number >= 0 && types && !types.includes("number") && !types.includes("integer")) {
      const message = `"${at}[${number}]" makes numbers, but the schema wants ${types.join(" or ")}.`;
      this.#fault("invalid_normalizer", `${at}[${number}]`, message);
    }
    return { path, steps: read.filter((step): step is Step => typeof step === "function") };
  }

  #checkDefaults(defaults: JsonObject, schema: CompiledSchema): void {
    const names = Object.keys(defaults);
    const unknown = names.filter((name) => !this.#declared.has(name));
    for (const name of unknown) this.#undeclared(name, `defaults.${name}`);
    for (const name of names.filter((each) => this.#declared.has(each))) {
      const verdict = schema.check({ [name]: defaults[name] as JsonValue });
      const isChanged = verdict.coercions.length > 0;
      const isWrong = !verdict.ok && verdict.problems.some(({ path }) => path[0] === name);
      if (hasLostDigits(defaults[name] as JsonValue)) {
        const message = `"defaults.${name}" holds an integer beyond 2^53, which a definition cannot keep digit for digit.`;
        this.#fault("invalid_default", `defaults.${name}`, message);
      } else if (isChanged || isWrong)
        this.#fault(
          "invalid_default",
          `defaults.${name}`,
          `"defaults.${name}" does not fit its schema as it is.`,
        );
    }
  }

  #rule(rule: AnyRule, at: string, checks: CompiledCheck[], remotes: CompiledRemote[]): void {
    const { name, check, url, message } = rule;
    const form = formFault(rule, at);
    if (form) this.#faults.push(form);
    const when = rule.when === undefined ? undefined : this.#expression(rule.when, `${at}.when`);
    const condition = check === undefined ? undefined : this.#expression(check, `${at}.check`);
    if (condition && message !== undefined) checks.push({ name, when, check: condition, message });
    if (url === undefined) return;
    this.#endpoint({ ...rule, url }, at);
    remotes.push({ rule: { ...rule, url }, when });
  }

  #expression(source: string, at: string): Expression | undefined {
    const expression = compileExpression(source, this.#context);
    if (!Array.isArray(expression)) return expression;
    for (const fault of expression) {
      const message = `"${at}" cannot be used, at character ${fault.at + 1}: ${fault.message}.`;
      this.#fault("invalid_expression", at, message);
    }
    return undefined;
  }

  #endpoint({ url, headers = {} }: RemoteRule, at: string): void {
    const faults = checkEndpoint({ url, query: {}, headers }, new Set(), this.#allowUrl);
    for (const { reason, path, message } of faults) {
      const own = path.replace(/^http/, at);
      this.#fault(reason, own, (message ?? "").replace(`"${path}"`, `"${own}"`));
    }
  }

  #guard({ allow, except = [], paths = [] }: ToolGuard): Guard {
    const allowed = allow === undefined ? undefined : readAllowed(allow, "guard.allow");
    if (allowed && typeof allowed !== "function") this.#faults.push(allowed);
    return {
      allowed: typeof allowed === "function" ? allowed : undefined,
      except: except.map((path, at) => this.#parameter(path, `guard.except[${at}]`)),
      paths: paths.map((path, at) => this.#parameter(path, `guard.paths[${at}]`)),
    };
  }
}

/** A rule of either kind, before it is known which. */
type AnyRule = Partial<ExpressionRule & RemoteRule>;

function formFault(
  { check, url, message, headers, timeout_ms }: AnyRule,
  at: string,
): ErrorDetail | undefined {
  const fault = (path: string, text: string): ErrorDetail => ({
    reason: "invalid_rule",
    path,
    message: text,
  });
  if ((check === undefined) === (url === undefined))
    return fault(at, `"${at}" has either a "check" or a "url".`);
  if (url !== undefined) return undefined;
  if (message === undefined)
    return fault(`${at}.message`, `"${at}.message" is missing: what the model is told.`);
  if (headers === undefined && timeout_ms === undefined) return undefined;
  return fault(at, `"headers" and "timeout_ms" of "${at}" go with a "url" only.`);
}

function hasLostDigits(value: JsonValue): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasLostDigits);
}

/** The types that the schema names at a path, as far as it says so in `properties` and `items` alone. */
function declaredTypes(parameters: JsonObject | undefined, path: ValuePath): string[] | undefined {
  let node: JsonValue | undefined = parameters;
  for (const part of path) {
    if (!isObject(node)) return undefined;
    const properties: JsonValue | undefined = node["properties"];
    if (part === EACH) node = node["items"];
    else node = isObject(properties) && Object.hasOwn(properties, part) ? properties[part] : undefined;
  }
  if (!isObject(node) || node["type"] === undefined) return undefined;
  const types = Array.isArray(node["type"]) ? node["type"] : [node["type"]];
  return types.filter((type) => typeof type === "string");
}
