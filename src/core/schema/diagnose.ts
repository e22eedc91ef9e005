import type { ErrorObject } from "ajv";
import { isObject, type JsonPath, type JsonValue } from "../json/value.ts";
import { declaredNames } from "./declared-names.ts";
import { type AcceptedTypes, typeNames, typeOf } from "./json-types.ts";
import { stepsOf } from "./pointer.ts";
import { type Problem, RULES, type Rule } from "./problem.ts";
import type { EffectiveSchema, Schema, SchemaNode } from "./schema-node.ts";
import type { Validators } from "./validators.ts";

/** Unions inside unions that are looked into for the branch that was meant. */
const MAX_UNION_DEPTH = 4;

/** Errors of one group that are looked at; nobody is told more at once. */
const MAX_OF_A_GROUP = 30;
/** Keywords that speak of members, of types, and of listed values. */
const GROUPS = [
  ["required", "additionalProperties", "unevaluatedProperties", "dependencies", "dependentRequired"],
  ["type", "anyOf", "oneOf"],
  ["enum", "const"],
];
const GROUPED: ReadonlySet<string> = new Set(GROUPS.flat());
/** Unions of one value for which the branch that was meant is looked for. */
const MAX_UNIONS = 4;

const RULE_NAMES: ReadonlySet<string> = new Set(RULES);

/** Finds out what is wrong with one value, as problems that can be told one by one. */
export class Diagnosis {
  readonly #validators: Validators;
  readonly #types: AcceptedTypes;
  readonly #targets: EffectiveSchema["targets"];
  #unions = 0;

  constructor(validators: Validators, types: AcceptedTypes, targets: EffectiveSchema["targets"]) {
    this.#validators = validators;
    this.#types = types;
    this.#targets = targets;
  }

  /** The problems of an invalid value, in the order in which they were found; at least one. */
  of(schema: Schema, value: JsonValue): Problem[] {
    return this.#problems(schema, value, [], 0);
  }

  #problems(schema: Schema, value: JsonValue, path: JsonPath, unionDepth: number): Problem[] {
    const errors = mostSerious(withoutBranches(this.#validators.errors(schema, value)));
    const problems = errors.flatMap((error) => this.#problem(error, value, path, unionDepth));
    return mergeMembers(problems);
  }

  #problem(error: ErrorObject, root: JsonValue, base: JsonPath, unionDepth: number): Problem[] {
    const found = follow(root, error.instancePath);
    const path = [...base, ...found.path];
    const node = (error.parentSchema ?? {}) as SchemaNode;
    const { value } = found;
    switch (error.keyword) {
      case "required":
        return [
          { kind: "missing", path, names: [error.params["missingProperty"] as string], unexpected: [] },
        ];
      case "additionalProperties":
      case "unevaluatedProperties": {
        const name = (error.params["additionalProperty"] ?? error.params["unevaluatedProperty"]) as string;
        return [{ kind: "unexpected", path, names: [name], known: declaredNames(node, this.#targets) }];
      }
      case "type":
        return [{ kind: "type", path, types: typeNames(this.#types.of({ type: node.type ?? [] })), value }];
      case "enum":
        return [{ kind: "enum", path, allowed: node.enum ?? [], value }];
      case "const":
        return [{ kind: "enum", path, allowed: node.const === undefined ? [] : [node.const], value }];
      case "contains":
        return [{ kind: "rule", path, value, ...this.#contained(node, value) }];
      case "anyOf":
      case "oneOf":
        return this.#union(error.keyword, node, value, path, unionDepth);
      default:
        return otherRule(error, path, value);
    }
  }

  /** Of too few items or of too many; the validator does not say which. */
  #contained(node: SchemaNode, value: JsonValue): { rule: "contains" | "maxContains"; limit: number } {
    const { contains = true, minContains, maxContains } = node;
    const items = Array.isArray(value) ? value : [];
    const most = Number(maxContains ?? Infinity);
    const found = items.filter((item) => this.#validators.isValid(contains as Schema, item)).length;
    if (found > most) return { rule: "maxContains", limit: most };
    return { rule: "contains", limit: Number(minContains ?? 1) };
  }

  /** The branch that was probably meant tells more than "no branch fits". */
  #union(
    keyword: "anyOf" | "oneOf",
    node: SchemaNode,
    value: JsonValue,
    path: JsonPath,
    depth: number,
  ): Problem[] {
    const branches = node[keyword] ?? [];
    const general: Problem = { kind: "rule", path, rule: keyword, limit: branches.length, value };
    const types = branches.reduce<number>((set, branch) => set | this.#types.of(branch), 0);
    if (!(typeOf(value) & types)) return [{ kind: "type", path, types: typeNames(types), value }];
    const candidates = branches.filter((branch) => this.#types.of(branch) & typeOf(value));
    if (depth >= MAX_UNION_DEPTH || ++this.#unions > MAX_UNIONS) return [general];
    const attempts = candidates.map((branch) => this.#problems(branch, value, path, depth + 1));
    // A branch without problems means that too many branches fit.
    if (attempts.some((problems) => problems.length === 0)) return [general];
    const tag = mergeEnums(attempts);
    if (tag !== undefined) return [tag];
    const best = attempts.reduce<Problem[]>((a, b) => (a.length > 0 && score(a) <= score(b) ? a : b), []);
    return best.length > 0 ? best : [general];
  }
}

/** How far a branch is from fitting; a wrong tag (an enum one step down) speaks most against it. */
function score(problems: readonly Problem[]): number {
  return problems.reduce((sum, { kind }) => sum + (kind === "enum" ? 100 : kind === "unexpected" ? 2 : 1), 0);
}

/** One list of values, if every branch refuses what stands at the same place: the tag of a union, or an enum in pieces. */
function mergeEnums(attempts: readonly Problem[][]): Problem | undefined {
  const lists = attempts.map((problems) => problems.filter((problem) => problem.kind === "enum"));
  const first = lists[0]?.[0];
  if (first === undefined) return undefined;
  const all = lists.map((problems) => problems.find(({ path }) => samePath(path, first.path)));
  if (all.includes(undefined)) return undefined;
  return { ...first, allowed: all.flatMap((problem) => problem?.allowed ?? []) };
}

function otherRule(error: ErrorObject, path: JsonPath, value: JsonValue): Problem[] {
  const { keyword, params } = error;
  // `if` only repeats what `then` or `else` reported.
  if (keyword === "if") return [];
  if (keyword === "dependencies" || keyword === "dependentRequired") {
    return [{ kind: "missing", path, names: [params["missingProperty"] as string], unexpected: [] }];
  }
  if (keyword === "propertyNames") {
    return [{ kind: "rule", path, rule: "propertyNames", limit: params["propertyName"] as string, value }];
  }
  // `items: false` behind a tuple is what older drafts call `additionalItems`.
  const rule: Rule = RULE_NAMES.has(keyword) ? (keyword as Rule) : "additionalItems";
  const limit = typeof error.schema === "object" ? null : ((error.schema as JsonValue | undefined) ?? null);
  return [{ kind: "rule", path, rule, limit, value }];
}

/** The first few errors of each group, in the order of the groups; within one they keep their order. */
function mostSerious(errors: readonly ErrorObject[]): ErrorObject[] {
  const groups = GROUPS.map((keywords) => errors.filter(({ keyword }) => keywords.includes(keyword)));
  const others = errors.filter(({ keyword }) => !GROUPED.has(keyword));
  return [...groups, others].flatMap((group) => group.slice(0, MAX_OF_A_GROUP));
}

/** Drops the errors of single branches, of names and of elements that a later error sums up. */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (["anyOf", "oneOf", "contains", "propertyNames"].includes(error.keyword)) {
      while (kept.length > 0 && isInside(kept.at(-1), error)) kept.pop();
    }
    kept.push(error);
  }
  return kept;
}

function isInside(inner: ErrorObject | undefined, outer: ErrorObject): boolean {
  if (inner === undefined || inner.parentSchema === outer.parentSchema) return false;
  return inner.instancePath === outer.instancePath || inner.instancePath.startsWith(`${outer.instancePath}/`);
}

/** One problem for all missing members of an object, and one for all unexpected; together if an object has both. */
function mergeMembers(problems: readonly Problem[]): Problem[] {
  const merged: Problem[] = [];
  for (const problem of problems) {
    const at = merged.findIndex((other) => other.kind === problem.kind && samePath(other.path, problem.path));
    const known = merged[at];
    if (known === undefined) merged.push(problem);
    else if (known.kind === "missing" || known.kind === "unexpected") {
      const names = [...known.names, ...(problem as typeof known).names];
      merged[at] = { ...known, names: [...new Set(names)] };
    } else if (known.kind === "rule") merged.push(problem);
  }
  return merged.flatMap((problem): Problem[] => {
    if (problem.kind !== "missing" && problem.kind !== "unexpected") return [problem];
    const other = problem.kind === "missing" ? "unexpected" : "missing";
    const partner = merged.find(({ kind, path }) => kind === other && samePath(path, problem.path));
    if (partner === undefined) return [problem];
    const unexpected = partner.kind === "unexpected" ? partner.names : [];
    return problem.kind === "missing" ? [{ ...problem, unexpected }] : [];
  });
}

function samePath(a: JsonPath, b: JsonPath): boolean {
  return a.length === b.length && a.every((part, at) => part === b[at]);
}

/** The value at a pointer, and the path with array positions as numbers. */
function follow(root: JsonValue, pointer: string): { path: JsonPath; value: JsonValue } {
  let value = root;
  const path = stepsOf(pointer).map((key) => {
    const isElement = Array.isArray(value);
    value = (Array.isArray(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined) ?? null;
    return isElement ? Number(key) : key;
  });
  return { path, value };
}
