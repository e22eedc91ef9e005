import type { JsonValue } from "../json/value.ts";
import { createAjv, type Dialect } from "./ajv-dialects.ts";
import { CheckState, TooComplex } from "./check-state.ts";
import { Coercer, type Coercion, type Oracle } from "./coerce.ts";
import { Diagnosis } from "./diagnose.ts";
import { AcceptedTypes } from "./json-types.ts";
import { measure } from "./measure.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import { bySeverity, type Problem } from "./problem.ts";
import type { EffectiveSchema } from "./schema-node.ts";
import { SubschemaValidators, type Validate } from "./subschema-validators.ts";
import { allNodes } from "./weigh.ts";

/** Nesting of arguments, and elements of an array where the schema states no more. */
const MAX_DEPTH = 64;
const MAX_ARRAY = 1_000;
/** Characters of arguments; the parser allows no more. */
const MAX_LENGTH = 1_048_576;
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
  readonly #state = new CheckState();
  readonly #validate: Validate;
  readonly #validators: SubschemaValidators;
  readonly #maxArray: number;
  readonly #patterns = new Map<string, Pattern>();
  readonly #oracle: Oracle = {
    fits: (schema, value) => this.#validators.errors(schema, value).length === 0,
    matches: (source, key) => this.#pattern(source).test(key),
  };

  /** Takes a schema that `compileSchema` has bounded. */
  constructor(schema: EffectiveSchema, dialect: Dialect) {
    this.#schema = schema;
    this.#types = new AcceptedTypes(schema.targets);
    const ajv = createAjv(dialect, this.#state, false);
    for (const [name, target] of schema.targets) ajv.addSchema(target, name);
    this.#validate = ajv.compile(schema.root);
    this.#validators = new SubschemaValidators(schema.targets, this.#state, dialect);
    this.#maxArray = Math.max(MAX_ARRAY, ...allNodes(schema).map(({ maxItems }) => Number(maxItems ?? 0)));
  }

  /**
   * Checks the arguments of a call.
   *
   * 1. A value that is valid as it stands comes back itself, with no coercion.
   * 2. Else only what is invalid is coerced, only without loss (see `Coercer`), and every change is listed.
   * 3. The value given is never changed. The value of an `ok` verdict is valid against the schema.
   * 4. Never throws; what would take too long is refused as `too complex`.
   */
  check(value: JsonValue): SchemaVerdict {
    this.#state.begin();
    const coercions: Coercion[] = [];
    try {
      return this.#check(value, coercions);
    } catch (error) {
      if (!(error instanceof TooComplex)) throw error;
      return { ok: false, problems: [rule("too complex", null)], coercions };
    }
  }

  #check(value: JsonValue, coercions: Coercion[]): SchemaVerdict {
    const beyond = this.#beyondBounds(value);
    if (beyond !== undefined) return { ok: false, problems: [beyond], coercions };
    if (this.#isValid(value)) return { ok: true, value, coercions };
    const coercer = new Coercer(this.#schema, this.#types, this.#oracle);
    const coerced = coercer.coerce(value, coercions);
    if (coercions.length > 0) {
      const outgrown = this.#beyondBounds(coerced);
      if (outgrown !== undefined) return { ok: false, problems: [outgrown], coercions };
      if (this.#isValid(coerced)) return { ok: true, value: coerced, coercions };
    }
    const diagnosis = new Diagnosis(this.#validators, this.#types, this.#schema.targets);
    const problems = diagnosis.of(this.#schema.root, coerced).sort(bySeverity).slice(0, MAX_PROBLEMS);
    return { ok: false, problems, coercions };
  }

  #isValid(value: JsonValue): boolean {
    return this.#validate(this.#state.view(value, measure(value, MAX_DEPTH, MAX_LENGTH).hasBigint));
  }

  #pattern(source: string): Pattern {
    const pattern = this.#patterns.get(source) ?? compilePattern(source, this.#state);
    this.#patterns.set(source, pattern);
    return pattern;
  }

  #beyondBounds(value: JsonValue): Problem | undefined {
    const { depth, length, longestArray } = measure(value, MAX_DEPTH, MAX_LENGTH);
    if (depth > MAX_DEPTH) return rule("too deep", MAX_DEPTH);
    if (length > MAX_LENGTH) return rule("too long", MAX_LENGTH);
    return longestArray > this.#maxArray ? rule("maxItems", this.#maxArray) : undefined;
  }
}

function rule(rule: "too deep" | "too long" | "too complex" | "maxItems", limit: JsonValue): Problem {
  return { kind: "rule", path: [], rule, limit, value: null };
}
