import type { Ajv, ErrorObject } from "ajv";
import type { JsonValue } from "../json/value.ts";
import { type CheckParts, createAjv } from "./ajv-dialects.ts";
import { measure } from "./measure.ts";
import type { EffectiveSchema, Schema } from "./schema-node.ts";

/** Values of which all errors are gathered hold at most so many values; each may bring several errors. */
const MAX_THOROUGH = 2_000;

interface Validate {
  (value: unknown): boolean;
  errors?: null | ErrorObject[];
}

/**
 * Validates values against a schema and its parts. Parts are compiled when they are asked for the first time, and so is what
 * gathers every error, since most tools never need either.
 */
export class Validators {
  readonly #targets: EffectiveSchema["targets"];
  readonly #parts: CheckParts;
  /** Stops at the first error. */
  readonly #quick: Compiler;
  #thorough: Compiler | undefined;

  constructor(targets: EffectiveSchema["targets"], parts: CheckParts) {
    this.#targets = targets;
    this.#parts = parts;
    this.#quick = new Compiler(createAjv(parts, targets, false));
  }

  /** Compiles a part ahead of its first use. */
  prepare(schema: Schema): void {
    this.#quick.compile(schema);
  }

  /** Whether a value is valid. Throws `TooComplex`. */
  isValid(schema: Schema, value: JsonValue): boolean {
    return this.#quick.compile(schema)(this.#view(value));
  }

  /** The errors of a value, of a large one only the first; none if it is valid. Throws `TooComplex`. */
  errors(schema: Schema, value: JsonValue): ErrorObject[] {
    const isLarge = size(value).values > MAX_THOROUGH;
    if (!isLarge) this.#thorough ??= new Compiler(createAjv(this.#parts, this.#targets, true));
    const validate = ((isLarge ? undefined : this.#thorough) ?? this.#quick).compile(schema);
    return validate(this.#view(value)) ? [] : (validate.errors ?? []);
  }

  #view(value: JsonValue): JsonValue {
    return this.#parts.state.view(value, size(value).hasBigint);
  }
}

class Compiler {
  readonly #ajv: Ajv;
  readonly #compiled = new Map<Schema, Validate>();

  constructor(ajv: Ajv) {
    this.#ajv = ajv;
  }

  compile(schema: Schema): Validate {
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    const validate = this.#ajv.compile(schema);
    this.#compiled.set(schema, validate);
    return validate;
  }
}

/** What is validated was bounded before. */
function size(value: JsonValue) {
  return measure(value, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
}
