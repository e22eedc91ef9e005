import { keepSpelling } from "./spelling.ts";
import { type JsonObject, type JsonPath, type JsonValue, setMember } from "./value.ts";

/**
 * Called with every value the moment it is complete, innermost first. `spelling`: the text of a number whose double says another one; of
 * those inside of a value the value itself knows.
 */
export type OnValue = (path: JsonPath, value: JsonValue, spelling: string | undefined) => void;

/** Puts values together to a tree and knows where in it the reader stands. */
export class TreeBuilder {
  /** The root value, once it is complete. */
  root: JsonValue | undefined;
  readonly #onValue: OnValue | undefined;
  /** The open containers, outermost first, and behind each the key of the member that is being read. */
  readonly #containers: (JsonValue[] | JsonObject)[] = [];
  readonly #keys: string[] = [];
  #array: JsonValue[] | undefined;
  #object: JsonObject | undefined;
  #key = "";
  #hasSpellings = false;

  constructor(onValue: OnValue | undefined) {
    this.#onValue = onValue;
  }

  /** How many objects and arrays are open. */
  get depth(): number {
    return this.#containers.length;
  }

  /** Whether the innermost open container is an array. */
  get inArray(): boolean {
    return this.#array !== undefined;
  }

  /** The path of the innermost open container or, with `child`, of the value in it that is being read. */
  path(child: boolean): (string | number)[] {
    const path: (string | number)[] = [];
    const last = this.#containers.length - 1;
    for (let level = 0; level < last; level++) path.push(this.#step(level, this.#keys[level + 1] as string));
    if (child && last >= 0) path.push(this.#step(last, this.#key));
    return path;
  }

  /** Names the member that comes next. */
  name(key: string): void {
    this.#key = key;
  }

  openArray(): void {
    const array: JsonValue[] = [];
    this.#push(array);
    this.#array = array;
    this.#object = undefined;
  }

  openObject(): void {
    const object: JsonObject = {};
    this.#push(object);
    this.#array = undefined;
    this.#object = object;
  }

  /** Closes the innermost container and adds it to the one around it. */
  close(): void {
    const value = this.#containers.pop() as JsonValue[] | JsonObject;
    this.#key = this.#keys.pop() as string;
    const around = this.#containers.at(-1);
    this.#array = Array.isArray(around) ? around : undefined;
    this.#object = Array.isArray(around) ? undefined : around;
    this.add(value);
  }

  /** Adds a complete value where the reader stands. `spelling`: the text of a number whose double says another one. */
  add(value: JsonValue, spelling?: string): void {
    this.#onValue?.(this.path(true), value, spelling);
    if (spelling !== undefined || this.#hasSpellings) this.#spell(value, spelling);
    if (this.#object !== undefined) setMember(this.#object, this.#key, value);
    else if (this.#array !== undefined) this.#array.push(value);
    else this.root = value;
  }

  /** The last value of a repeated key counts, and so does how it is written. */
  #spell(value: JsonValue, spelling: string | undefined): void {
    this.#hasSpellings = true;
    const container = this.#object ?? this.#array;
    if (container === undefined) return;
    keepSpelling(container, this.#array?.length ?? this.#key, Number(value), spelling);
  }

  #push(container: JsonValue[] | JsonObject): void {
    this.#containers.push(container);
    this.#keys.push(this.#key);
  }

  #step(level: number, key: string): string | number {
    const container = this.#containers[level];
    // A value joins its array only when it is complete, so the length is the position of the one being read.
    return Array.isArray(container) ? container.length : key;
  }
}
