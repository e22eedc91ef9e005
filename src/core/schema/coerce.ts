import { carrySpelling, withSpellings } from "../json/spelling.ts";
import { isObject, type JsonObject, type JsonValue, setMember } from "../json/value.ts";
import { castString, looksLikeArray } from "./cast.ts";
import { elementSchemas, type Matches, memberSchemas } from "./child-schemas.ts";
import { type AcceptedTypes, ARRAY, NULL, typeOf } from "./json-types.ts";
import { step } from "./pointer.ts";
import type { EffectiveSchema, Schema, SchemaNode } from "./schema-node.ts";

/** One change of a value. `path` is a JSON pointer; `to` is absent where the member was left out. */
export interface Coercion {
  readonly path: string;
  readonly from: JsonValue;
  readonly to?: JsonValue;
}

/** What a coercion asks the validator. */
export interface Oracle {
  /** Whether a value is valid against a part of the schema. */
  readonly fits: (schema: Schema, value: JsonValue) => boolean;
  readonly matches: Matches;
}

/** Places that one coercion visits at most; what lies beyond stays as it is. */
const MAX_VISITS = 20_000;
/** Places inside each other, each branch of a union counted; it bounds the stack. */
const MAX_DEPTH = 300;
/** Arrays that are put around each other; a recursive schema of arrays would ask for more and more. */
export const MAX_WRAPS = 4;

/**
 * Turns arguments that are almost right into what the schema wants, without loss and without guessing.
 *
 * 1. A value of a type that its place allows is never changed itself; what is inside it is looked at.
 * 2. A string becomes a number or integer (a JSON number that keeps all its digits), a boolean (`true` and `false` only), or
 *    the object or array whose JSON text it is, where no string is allowed.
 * 3. A single value becomes an array of one, where an array is wanted and the value fits as its element.
 * 4. `null` for a declared optional member leaves the member out, where `null` is not allowed; `null` as the root is `{}`.
 * 5. In a union that no branch of fits, the branch is taken that fits after the fewest changes, the first of equals.
 * 6. The value given is not changed; unchanged parts are shared with the result.
 */
export class Coercer {
  readonly #schema: EffectiveSchema;
  readonly #types: AcceptedTypes;
  readonly #oracle: Oracle;
  #visits = 0;
  #depth = 0;
  #wraps = 0;

  constructor(schema: EffectiveSchema, types: AcceptedTypes, oracle: Oracle) {
    this.#schema = schema;
    this.#types = types;
    this.#oracle = oracle;
  }

  /** The coerced value. Adds every change to `coercions`, outer ones before inner ones. */
  coerce(value: JsonValue, coercions: Coercion[]): JsonValue {
    if (value === null) {
      coercions.push({ path: "", from: null, to: {} });
      return {};
    }
    return this.#visit([this.#schema.root], value, "", coercions);
  }

  #visit(schemas: readonly Schema[], value: JsonValue, path: string, log: Coercion[]): JsonValue {
    if (schemas.length === 0 || this.#depth === MAX_DEPTH || ++this.#visits > MAX_VISITS) return value;
    this.#depth++;
    const visited = this.#visitTyped(schemas, value, path, log);
    this.#depth--;
    return visited;
  }

  #visitTyped(schemas: readonly Schema[], value: JsonValue, path: string, log: Coercion[]): JsonValue {
    const wanted = this.#types.ofAll(schemas);
    if (typeOf(value) & wanted) return this.#visitFitting(schemas, value, path, log);
    const said = typeof value === "string" ? castString(value, wanted) : undefined;
    if (said === undefined) return wanted & ARRAY ? this.#wrap(schemas, value, path, log) : value;
    log.push({ path, from: value, to: said });
    return this.#visitFitting(schemas, said, path, log);
  }

  /** A value of a type that its place allows. */
  #visitFitting(schemas: readonly Schema[], value: JsonValue, path: string, log: Coercion[]): JsonValue {
    const nodes = this.#expand(schemas, value);
    const inner = this.#visitInside(nodes, value, path, log);
    return this.#chooseAll(nodes, inner, path, log);
  }

  /** An array of the value, if it fits as its element; else the value. */
  #wrap(schemas: readonly Schema[], value: JsonValue, path: string, log: Coercion[]): JsonValue {
    if (value === null || (typeof value === "string" && looksLikeArray(value))) return value;
    if (this.#wraps === MAX_WRAPS) return value;
    const nodes = this.#expand(schemas, [value]);
    const elements = elementSchemas(nodes, 0);
    const inside: Coercion[] = [];
    this.#wraps++;
    const element = this.#visit(elements, value, step(path, 0), inside);
    this.#wraps--;
    if (!(typeOf(element) & this.#types.ofAll(elements))) return value;
    const wrapped = this.#chooseAll(nodes, [element], path, inside);
    // A union says what its elements are only in the branch that fits.
    if (!unionsOf(nodes).every((branches) => this.#fitsOne(branches, wrapped))) return value;
    log.push({ path, from: value, to: [value] }, ...inside);
    return wrapped;
  }

  #chooseAll(nodes: readonly SchemaNode[], value: JsonValue, path: string, log: Coercion[]): JsonValue {
    return unionsOf(nodes).reduce<JsonValue>(
      (current, branches) => this.#choose(branches, current, path, log),
      value,
    );
  }

  #fitsOne(branches: readonly Schema[], value: JsonValue): boolean {
    return branches.some((branch) => this.#oracle.fits(branch, value));
  }

  #visitInside(nodes: readonly SchemaNode[], value: JsonValue, path: string, log: Coercion[]): JsonValue {
    if (Array.isArray(value)) {
      const items = value.map((item, at) =>
        wrapped(value, at, this.#visit(elementSchemas(nodes, at), item, step(path, at), log)),
      );
      return items.every((item, at) => item === value[at]) ? value : withSpellings(items, value);
    }
    return isObject(value) ? this.#visitMembers(nodes, value, path, log) : value;
  }

  #visitMembers(nodes: readonly SchemaNode[], object: JsonObject, path: string, log: Coercion[]): JsonObject {
    const result: JsonObject = {};
    let changed = false;
    for (const [key, member] of Object.entries(object)) {
      const schemas = memberSchemas(nodes, key, this.#oracle.matches);
      if (member === null && this.#mayBeLeftOut(nodes, schemas, key)) {
        log.push({ path: step(path, key), from: null });
        changed = true;
        continue;
      }
      const visited = wrapped(object, key, this.#visit(schemas, member, step(path, key), log));
      changed ||= visited !== member;
      setMember(result, key, visited);
    }
    return changed ? withSpellings(result, object) : object;
  }

  #mayBeLeftOut(nodes: readonly SchemaNode[], schemas: readonly Schema[], key: string): boolean {
    const isDeclared = nodes.some(
      ({ properties }) => properties !== undefined && Object.hasOwn(properties, key),
    );
    const isRequired = nodes.some(({ required }) => required?.includes(key));
    return isDeclared && !isRequired && !(this.#types.ofAll(schemas) & NULL);
  }

  #choose(branches: readonly Schema[], value: JsonValue, path: string, log: Coercion[]): JsonValue {
    if (this.#fitsOne(branches, value)) return value;
    let best: { value: JsonValue; log: Coercion[] } | undefined;
    for (const branch of branches) {
      const trial: Coercion[] = [];
      const visited = this.#visit([branch], value, path, trial);
      if (trial.length === 0 || (best !== undefined && trial.length >= best.log.length)) continue;
      if (this.#oracle.fits(branch, visited)) best = { value: visited, log: trial };
    }
    if (best === undefined) return value;
    log.push(...best.log);
    return best.value;
  }

  /** All that judges the value beside each other, with references followed and conditions decided; unions stay unions. */
  #expand(schemas: readonly Schema[], value: JsonValue): SchemaNode[] {
    return schemas.flatMap((schema) => {
      if (typeof schema === "boolean") return [];
      const target = schema.$ref === undefined ? undefined : this.#schema.targets.get(schema.$ref);
      const parts = [target, ...(schema.allOf ?? []), this.#conditional(schema, value)];
      return [
        schema,
        ...this.#expand([...parts.filter((part) => part !== undefined), ...dependent(schema, value)], value),
      ];
    });
  }

  #conditional(node: SchemaNode, value: JsonValue): Schema | undefined {
    if (node.if === undefined || (node.then ?? node.else) === undefined) return undefined;
    return this.#oracle.fits(node.if, value) ? node.then : node.else;
  }
}

/** What became of a member; a number that became the element of an array is written there as it was. */
function wrapped(container: JsonObject | JsonValue[], key: string | number, visited: JsonValue): JsonValue {
  if (Array.isArray(visited) && visited.length === 1) carrySpelling(container, key, visited, 0);
  return visited;
}

function unionsOf(nodes: readonly SchemaNode[]): (readonly Schema[])[] {
  return nodes.flatMap(({ anyOf, oneOf }) => [anyOf, oneOf].filter((branches) => branches !== undefined));
}

function dependent(node: SchemaNode, value: JsonValue): Schema[] {
  if (!isObject(value)) return [];
  const all = Object.entries({ ...node.dependencies, ...node.dependentSchemas });
  return all
    .filter(([key, schema]) => Object.hasOwn(value, key) && !Array.isArray(schema))
    .map(([, schema]) => schema as Schema);
}
