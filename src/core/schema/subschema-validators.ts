import type { Ajv, ErrorObject } from "ajv";
import type { JsonValue } from "../json/value.ts";
import { type CheckParts, createAjv } from "./ajv-dialects.ts";
import { measure } from "./measure.ts";
import type { EffectiveSchema, Schema } from "./schema-node.ts";

/** Tells whether a value is valid; on `false` the errors stand in `errors`. */
export interface Validate {
  (value: unknown): boolean;
  errors?: null | ErrorObject[];
}

/**
 * Validators of parts of a schema, which report every error. They are made when a call fails for the first time, since most
 * tools never need them.
 */
export class SubschemaValidators {
  readonly #targets: EffectiveSchema["targets"];
  readonly #parts: CheckParts;
  readonly #compiled = new Map<Schema, Validate>();
  #ajv: Ajv | undefined;

  constructor(targets: EffectiveSchema["targets"], parts: CheckParts) {
    this.#targets = targets;
    this.#parts = parts;
  }

  /** Every error of a value; none if it is valid. Throws `TooComplex`. */
  errors(schema: Schema, value: JsonValue): ErrorObject[] {
    const validate = this.#compiled.get(schema) ?? this.#compile(schema);
    // No recursion: what is checked was measured before.
    const { hasBigint } = measure(value, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    return validate(this.#parts.state.view(value, hasBigint)) ? [] : (validate.errors ?? []);
  }

  #compile(schema: Schema): Validate {
    this.#ajv ??= createAjv(this.#parts, this.#targets, true);
    const validate = this.#ajv.compile(schema);
    this.#compiled.set(schema, validate);
    return validate;
  }
}
