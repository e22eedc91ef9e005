import { isObject, type JsonObject, type JsonPath, type JsonValue } from "../json/value.ts";
import { castString, looksLikeArray } from "./cast.ts";
import { elementSchemas, type Matches, memberSchemas } from "./child-schemas.ts";
import { MAX_WRAPS } from "./coerce.ts";
import { declaredNames } from "./declared-names.ts";
import { canonicalText } from "./exact-number.ts";
import { type AcceptedTypes, ARRAY, OBJECT, STRING, type TypeSet, typeNames, typeOf } from "./json-types.ts";
import type { Problem } from "./problem.ts";
import type { EffectiveSchema, Schema, SchemaNode } from "./schema-node.ts";

/** Work that one look may be, in places visited; what is not decided by then counts as possible. */
const MAX_WORK = 5_000;
/** What is compared by its text, in characters or listed values, that is as much work as a place. */
const TEXT_PER_WORK = 64;
const LISTED_PER_WORK = 8;
/** Places inside each other, each branch of a union counted; it bounds the stack. */
const MAX_DEPTH = 300;

/** A piece of the arguments, whole or still coming. */
type Piece =
  | { readonly kind: "value"; readonly path: JsonPath; readonly value: JsonValue }
  /** The container at `path.slice(0, depth)`, of which nothing is known but the value inside it at `path`. */
  | { readonly kind: "open"; readonly path: JsonPath; readonly depth: number; readonly value: JsonValue }
  /** An array of one, put around a piece. */
  | { readonly kind: "wrapped"; readonly inner: Piece };

/** The work that all looks at one call may be together, in places visited. */
export interface EarlyBudget {
  left: number;
}

/**
 * Says of one complete value of arguments that are still arriving whether they can fit the schema at all.
 *
 * 1. A problem means: no arguments with this value at this path pass `CompiledSchema.check`, whatever else they hold. A member
 *    that is written twice is left aside; its last value counts.
 * 2. For that, a place is given more freedom than the coercion has: every form that the value could take in it is tried. What
 *    only the whole arguments can tell (`if`, `not`, `contains`, lengths, ranges, patterns) is not asked.
 * 3. The work is bounded by `MAX_WORK` and the budget, whatever schema and value are.
 */
export class EarlyCheck {
  readonly #schema: EffectiveSchema;
  readonly #types: AcceptedTypes;
  readonly #matches: Matches;
  readonly #budget: EarlyBudget;
  #left: number;
  #depth = 0;

  constructor(schema: EffectiveSchema, types: AcceptedTypes, matches: Matches, budget: EarlyBudget) {
    this.#schema = schema;
    this.#types = types;
    this.#matches = matches;
    this.#budget = budget;
    this.#left = Math.min(MAX_WORK, budget.left);
  }

  /** Why the value at `path` can never be part of valid arguments; `undefined` if it could. */
  problem(path: JsonPath, value: JsonValue): Problem | undefined {
    return this.#judge(this.#schema.root, open(path, 0, value), MAX_WRAPS);
  }

  /** What speaks against a piece, in every form that it can take; `undefined` if one of them could fit. */
  #judge(schema: Schema, piece: Piece, wraps: number): Problem | undefined {
    if (schema === true || this.#depth === MAX_DEPTH || !this.#work(1)) return undefined;
    if (schema === false) return refused(piece);
    this.#depth++;
    const problem = this.#judgeForms(schema, piece, wraps);
    this.#depth--;
    return problem;
  }

  /** `false` when there is no work left. */
  #work(amount: number): boolean {
    this.#left -= amount;
    this.#budget.left -= amount;
    return this.#left >= 0;
  }

  #judgeForms(node: SchemaNode, piece: Piece, wraps: number): Problem | undefined {
    const wanted = this.#types.of(node);
    const fitting = this.#forms(piece, wraps, wanted).filter((form) => typeOfPiece(form) & wanted);
    let first: Problem | undefined;
    for (const form of fitting) {
      // Only what is inside a new array has one less to come; for what judges the array beside the node it is there already.
      const isWrap = form.kind === "wrapped" && form !== piece;
      const problem =
        this.#notListed(node, form) ??
        this.#inside(node, form, isWrap ? wraps - 1 : wraps) ??
        this.#beside(node, form, wraps);
      if (problem === undefined) return undefined;
      first ??= problem;
    }
    return first ?? wrongType(piece, wanted);
  }

  /** The piece itself first, then what the coercion could make of it. */
  #forms(piece: Piece, wraps: number, wanted: TypeSet): Piece[] {
    const all = [piece];
    if (wanted & ~STRING && piece.kind === "value" && typeof piece.value === "string") {
      this.#work(piece.value.length / TEXT_PER_WORK);
      const said = castString(piece.value, wanted & ~STRING);
      if (said !== undefined) all.push({ ...piece, value: said });
    }
    if (wanted & ARRAY && wraps > 0 && canBeWrapped(piece)) all.push({ kind: "wrapped", inner: piece });
    return all;
  }

  /** A listed object or array can still come of another one by what is changed inside, so only other values are compared. */
  #notListed({ enum: listed, const: only }: SchemaNode, piece: Piece): Problem | undefined {
    if (piece.kind !== "value" || (typeof piece.value === "object" && piece.value !== null)) return undefined;
    const { path, value } = piece;
    const lists = [listed, only === undefined ? undefined : [only]].filter((list) => list !== undefined);
    if (lists.length === 0) return undefined;
    this.#work((listed?.length ?? 0) / LISTED_PER_WORK);
    const text = canonicalText(value);
    const list = lists.find((allowed) => !allowed.some((one) => canonicalText(one) === text));
    return list && { kind: "enum", path, allowed: list, value };
  }

  /** What else judges the same piece. */
  #beside(node: SchemaNode, piece: Piece, wraps: number): Problem | undefined {
    const target = node.$ref === undefined ? undefined : this.#schema.targets.get(node.$ref);
    for (const part of [...(target === undefined ? [] : [target]), ...(node.allOf ?? [])]) {
      const problem = this.#judge(part, piece, wraps);
      if (problem) return problem;
    }
    return this.#union(node.anyOf, piece, wraps) ?? this.#union(node.oneOf, piece, wraps);
  }

  /** A union is possible as long as one branch is. */
  #union(branches: readonly Schema[] | undefined, piece: Piece, wraps: number): Problem | undefined {
    const problems: Problem[] = [];
    for (const branch of branches ?? []) {
      const problem = this.#judge(branch, piece, wraps);
      if (problem === undefined) return undefined;
      if (this.#types.of(branch) & typeOfPiece(piece)) problems.push(problem);
    }
    return sumUp(problems);
  }

  #inside(node: SchemaNode, piece: Piece, wraps: number): Problem | undefined {
    if (piece.kind === "wrapped") return this.#element(node, 0, piece.inner, wraps);
    if (piece.kind === "open") {
      const step = piece.path[piece.depth];
      const child = open(piece.path, piece.depth + 1, piece.value);
      return typeof step === "number"
        ? this.#element(node, step, child, wraps)
        : this.#member(node, step ?? "", child, piece.path.slice(0, piece.depth), wraps);
    }
    const { path, value } = piece;
    if (Array.isArray(value)) {
      return firstOf(value, (item, at) =>
        this.#element(node, at, { kind: "value", path: [...path, at], value: item }, wraps),
      );
    }
    return isObject(value) ? this.#object(node, path, value, wraps) : undefined;
  }

  #object(node: SchemaNode, path: JsonPath, value: JsonObject, wraps: number): Problem | undefined {
    const missing = (node.required ?? []).filter((name) => !Object.hasOwn(value, name));
    if (missing.length > 0) return { kind: "missing", path, names: missing, unexpected: [] };
    return firstOf(Object.entries(value), ([key, member]) =>
      this.#member(node, key, { kind: "value", path: [...path, key], value: member }, path, wraps),
    );
  }

  #member(
    node: SchemaNode,
    key: string,
    member: Piece,
    around: JsonPath,
    wraps: number,
  ): Problem | undefined {
    // The coercion may leave the member out, if another part of the schema declares it.
    const isNull = member.kind === "value" && member.value === null;
    if (isNull && !node.required?.includes(key)) return undefined;
    if (node.patternProperties !== undefined) {
      const patterns = Object.keys(node.patternProperties).length;
      this.#work(patterns * (1 + key.length / TEXT_PER_WORK));
    }
    const schemas = memberSchemas([node], key, this.#matches);
    const isDeclared = node.properties !== undefined && Object.hasOwn(node.properties, key);
    if (!isDeclared && schemas[0] === false && node.additionalProperties === false) {
      const known = declaredNames(node, this.#schema.targets);
      return { kind: "unexpected", path: around, names: [key], known };
    }
    return firstOf(schemas, (schema) => this.#judge(schema, member, wraps));
  }

  #element(node: SchemaNode, at: number, item: Piece, wraps: number): Problem | undefined {
    return firstOf(elementSchemas([node], at), (schema) => this.#judge(schema, item, wraps));
  }
}

function open(path: JsonPath, depth: number, value: JsonValue): Piece {
  return depth === path.length ? { kind: "value", path, value } : { kind: "open", path, depth, value };
}

function canBeWrapped(piece: Piece): boolean {
  if (piece.kind !== "value") return true;
  return piece.value !== null && !(typeof piece.value === "string" && looksLikeArray(piece.value));
}

function typeOfPiece(piece: Piece): TypeSet {
  if (piece.kind === "wrapped") return ARRAY;
  if (piece.kind === "value") return typeOf(piece.value);
  return typeof piece.path[piece.depth] === "number" ? ARRAY : OBJECT;
}

/** Where a piece stands in the arguments, and as what; of an open container only its kind is known. */
function shown(piece: Piece): { path: JsonPath; value: JsonValue } {
  if (piece.kind === "wrapped") return shown(piece.inner);
  const { path, value } = piece;
  if (piece.kind === "value") return { path, value };
  return { path: path.slice(0, piece.depth), value: typeOfPiece(piece) === ARRAY ? [] : {} };
}

function wrongType(piece: Piece, wanted: TypeSet): Problem {
  return { kind: "type", types: typeNames(wanted), ...shown(piece) };
}

function refused(piece: Piece): Problem {
  return { kind: "rule", rule: "false schema", limit: null, ...shown(piece) };
}

/** One problem for all branches of a union: what all of them list, if that is what is wrong, else what one says. */
function sumUp(problems: readonly Problem[]): Problem | undefined {
  const lists = problems.filter((problem) => problem.kind === "enum");
  const [first] = lists;
  const path = JSON.stringify(first?.path);
  if (first && lists.length === problems.length && lists.every((one) => JSON.stringify(one.path) === path))
    return { ...first, allowed: lists.flatMap(({ allowed }) => allowed) };
  return problems.find(({ kind }) => kind !== "enum") ?? problems[0];
}

function firstOf<T>(
  items: readonly T[],
  problemOf: (item: T, at: number) => Problem | undefined,
): Problem | undefined {
  for (const [at, item] of items.entries()) {
    const problem = problemOf(item, at);
    if (problem) return problem;
  }
  return undefined;
}
