import { type JsonObject, type JsonValue, setMember } from "../json/value.ts";
import { canonicalText } from "./exact-number.ts";

/** How much work one check may be: about 100 ms of schema nodes, patterns and formats on a slow core. */
const MAX_STEPS = 500_000;

/** Ends a check that would take too long. Never leaves this folder. */
export class TooComplex extends Error {
  override readonly name = "TooComplex";
}

/** What a running check knows beside the value that ajv sees: the work left, and which numbers stand for a `bigint`. */
export class CheckState {
  #steps = 0;
  /** Containers as ajv sees them, to the ones they were made of; absent if the value holds no `bigint`. */
  #originals: WeakMap<object, JsonValue[] | JsonObject> | undefined;
  #root: JsonValue = null;
  #texts = new WeakMap<object, string>();

  /** Begins a check: all work is still allowed. */
  begin(): void {
    this.#steps = 0;
    this.#texts = new WeakMap();
  }

  /** Counts work. Throws `TooComplex` once it is too much. */
  charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new TooComplex();
  }

  /** The value to hand to ajv: the same, or a copy with numbers where a `bigint` was. */
  view(value: JsonValue, hasBigint: boolean): JsonValue {
    this.#root = value;
    this.#originals = hasBigint ? new WeakMap() : undefined;
    return hasBigint ? this.#copy(value) : value;
  }

  /** The value behind a number that ajv sees at `key` of `parent`; no parent means the root. */
  exact(number: number, parent: unknown, key: string | number): number | bigint {
    if (this.#originals === undefined) return number;
    const container = typeof parent === "object" && parent !== null ? this.#originals.get(parent) : undefined;
    const original = container === undefined ? this.#root : (container as JsonObject)[key];
    return typeof original === "bigint" ? original : number;
  }

  /** The value behind an object or array that ajv sees. */
  original(container: JsonValue[] | JsonObject): JsonValue[] | JsonObject {
    return this.#originals?.get(container) ?? container;
  }

  /** `canonicalText` of the value behind what ajv sees; that of an object or array is written only once in a check. */
  canonicalText(value: JsonValue): string {
    if (typeof value !== "object" || value === null) return canonicalText(value);
    const original = this.original(value);
    const text = this.#texts.get(original) ?? canonicalText(original);
    this.#texts.set(original, text);
    return text;
  }

  #copy(value: JsonValue): JsonValue {
    // A number of more digits than a double has is still a finite one.
    if (typeof value === "bigint")
      return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(value)));
    if (typeof value !== "object" || value === null) return value;
    const copy = Array.isArray(value) ? value.map((element) => this.#copy(element)) : this.#copyObject(value);
    this.#originals?.set(copy, value);
    return copy;
  }

  #copyObject(value: JsonObject): JsonObject {
    const copy: JsonObject = {};
    for (const [key, member] of Object.entries(value)) setMember(copy, key, this.#copy(member));
    return copy;
  }
}
