import type { JsonPath, JsonValue } from "../json/value.ts";
import type { CheckParts } from "./ajv-dialects.ts";
import { TooComplex } from "./check-state.ts";
import { Coercer, type Coercion, type Oracle } from "./coerce.ts";
import { Diagnosis } from "./diagnose.ts";
import { type EarlyBudget, EarlyCheck } from "./early-check.ts";
import { AcceptedTypes } from "./json-types.ts";
import { findLongArray, MAX_ARGUMENTS, measure } from "./measure.ts";
import { type Bound, bySeverity, type Problem } from "./problem.ts";
import { allNodes, type EffectiveSchema } from "./schema-node.ts";
import { Validators } from "./validators.ts";

/** Nesting of arguments, and elements of an array where the schema states no more. */
const MAX_DEPTH = 64;
const MAX_ARRAY = 1_000;
/** How many problems are listed; the model is told one. */
const MAX_PROBLEMS = 8;

/** What the schema gate says about the arguments of a call. */
export type SchemaVerdict =
  | { readonly ok: true; readonly value: JsonValue; readonly coercions: readonly Coercion[] }
  | {
      readonly ok: false;
      /** The most serious first; never empty. */
      readonly problems: readonly Problem[];
      readonly coercions: readonly Coercion[];
    };

/** The schema of one tool, ready to check calls. It keeps what it compiled as long as it lives, and nothing else does. */
export class CompiledSchema {
  readonly #schema: EffectiveSchema;
  readonly #types: AcceptedTypes;
  readonly #parts: CheckParts;
  readonly #validators: Validators;
  readonly #maxArray: number;
  readonly #oracle: Oracle = {
    fits: (schema, value) => this.#validators.isValid(schema, value),
    matches: (source, key) => this.#parts.patterns.get(source).test(key),
  };

  /** Takes a schema that `compileSchema` has bounded. */
  constructor(schema: EffectiveSchema, parts: CheckParts) {
    this.#parts = parts;
    this.#schema = schema;
    this.#types = new AcceptedTypes(schema.targets);
    this.#validators = new Validators(schema.targets, parts);
    this.#validators.prepare(schema.root);
    this.#maxArray = Math.max(MAX_ARRAY, ...allNodes(schema).map(({ maxItems }) => Number(maxItems ?? 0)));
  }

  /**
   * Checks the arguments of a call.
   *
   * 1. A value that is valid as it stands comes back itself, with no coercion.
   * 2. Else only what is invalid is coerced, only without loss (see `Coercer`), and every change is listed.
   * 3. The value given is never changed. The value of an `ok` verdict is valid against the schema.
   * 4. Never throws; what would take too long is refused with the bound `time`.
   */
  check(value: JsonValue): SchemaVerdict {
    this.#parts.state.begin();
    const coercions: Coercion[] = [];
    try {
      return this.#check(value, coercions);
    } catch (error) {
      if (!(error instanceof TooComplex)) throw error;
      return { ok: false, problems: [bound("time", 0)], coercions };
    }
  }

  /**
   * Why no arguments with this value at this path would pass `check`, whatever else they hold; `undefined` if some could. For
   * arguments that are still arriving: see `EarlyCheck`. Never throws.
   */
  hopeless(path: JsonPath, value: JsonValue, budget: EarlyBudget): Problem | undefined {
    this.#parts.state.begin();
    try {
      return new EarlyCheck(this.#schema, this.#types, this.#oracle.matches, budget).problem(path, value);
    } catch (error) {
      if (!(error instanceof TooComplex)) throw error;
      return undefined;
    }
  }

  #check(value: JsonValue, coercions: Coercion[]): SchemaVerdict {
    const first = this.#judge(value);
    if (first === "valid") return { ok: true, value, coercions };
    if (first !== "invalid") return { ok: false, problems: [first], coercions };
    const coerced = new Coercer(this.#schema, this.#types, this.#oracle).coerce(value, coercions);
    const second = coercions.length > 0 ? this.#judge(coerced) : "invalid";
    if (second === "valid") return { ok: true, value: coerced, coercions };
    if (second !== "invalid") return { ok: false, problems: [second], coercions };
    const diagnosis = new Diagnosis(this.#validators, this.#types, this.#schema.targets);
    const problems = diagnosis.of(this.#schema.root, coerced).sort(bySeverity).slice(0, MAX_PROBLEMS);
    return { ok: false, problems, coercions };
  }

  /** Whether a value is valid, or which bound it is beyond. */
  #judge(value: JsonValue): "valid" | "invalid" | Problem {
    const { depth, length, longestArray } = measure(value, MAX_DEPTH, MAX_ARGUMENTS);
    if (depth > MAX_DEPTH) return bound("depth", MAX_DEPTH);
    if (length > MAX_ARGUMENTS) return bound("length", MAX_ARGUMENTS);
    if (longestArray > this.#maxArray) {
      return bound("items", this.#maxArray, findLongArray(value, this.#maxArray));
    }
    return this.#validators.isValid(this.#schema.root, value) ? "valid" : "invalid";
  }
}

function bound(bound: Bound, limit: number, path: JsonPath = []): Problem {
  return { kind: "bound", path, bound, limit };
}
