import * as chars from "./chars.ts";
import { NumberScanner } from "./number-scanner.ts";
import { type JsonError, type JsonErrorReason, nameUnit } from "./parse-error.ts";
import { AT_CHILD, EXPECTED, type State } from "./parser-state.ts";
import { StringScanner } from "./string-scanner.ts";
import { type OnValue, TreeBuilder } from "./tree-builder.ts";
import type { JsonPath, JsonValue } from "./value.ts";

/** Settings of a `JsonParser`. */
export interface JsonParserOptions {
  /** How many objects and arrays may be open at once. Default 64. */
  maxDepth?: number;
  /** How many UTF-16 units of text are read, white space included. Default 1,048,576. */
  maxLength?: number;
  /**
   * Called the moment a value is complete, innermost first, the root last; the path is the callee's to keep. An earlier
   * value of a repeated key is reported too. It must not throw and must not call the parser.
   */
  onValue?: OnValue;
}

const LITERALS = { true: true, false: false, null: null } as const;

/**
 * Reads one JSON text (RFC 8259) while it is still arriving.
 *
 * 1. However the text is cut, `status`, values, error and the calls of `onValue` are the same.
 * 2. No character is read twice; the time is linear in the text, but for the conversion of an integer of very many digits.
 * 3. What is accepted, and as what value, is what `JSON.parse` says, with three exceptions: integers beyond ±(2^53 - 1)
 *    become `bigint`, and text beyond `maxDepth` or `maxLength` is refused.
 * 4. The first fault is final: later text is ignored. No text makes a method throw.
 * 5. A number as the root is complete at the first character that does not belong to it, or at `end`.
 */
export class JsonParser {
  readonly #maxDepth: number;
  readonly #maxLength: number;
  readonly #tree: TreeBuilder;
  readonly #string = new StringScanner();
  readonly #number = new NumberScanner();
  #state: State = "value";
  #literal: keyof typeof LITERALS = "null";
  #matched = 0;
  #length = 0;
  #completeAt = -1;
  #error: JsonError | undefined;

  constructor(options: JsonParserOptions = {}) {
    this.#maxDepth = options.maxDepth ?? 64;
    this.#maxLength = options.maxLength ?? 1_048_576;
    this.#tree = new TreeBuilder(options.onValue);
  }

  /** `complete` once the root value is closed, as long as nothing but white space follows it. */
  get status(): "open" | "complete" | "failed" {
    if (this.#error !== undefined) return "failed";
    return this.#completeAt < 0 ? "open" : "complete";
  }

  /** The root value while `status` is `complete`. */
  get value(): JsonValue | undefined {
    return this.#error === undefined ? this.#tree.root : undefined;
  }

  /** The root value once it is closed, whatever follows it. */
  get firstValue(): JsonValue | undefined {
    return this.#tree.root;
  }

  /** The offset just behind the root value, whatever follows it; -1 until it is closed. */
  get completeAt(): number {
    return this.#completeAt;
  }

  /** The first fault, once `status` is `failed`. */
  get error(): JsonError | undefined {
    return this.#error;
  }

  /**
   * The path of the innermost value whose reading has begun or must begin next: behind a key its member, behind a comma in an
   * array the next element, between two members their object. `[]` for the root.
   */
  get openPath(): JsonPath {
    return this.#tree.path(AT_CHILD.has(this.#state));
  }

  /** Reads a further piece of the text. */
  push(text: string): void {
    if (this.#error !== undefined) return;
    const room = this.#maxLength - this.#length;
    this.#read(text.length <= room ? text : text.slice(0, room));
    if (text.length > room && this.#error === undefined) {
      this.#refuse("length", this.#maxLength, `at most ${this.#maxLength} characters of JSON`, "more");
    }
  }

  /** Says that no more text comes: a number that is the root is then complete, and an open text is refused as `incomplete`. */
  end(): void {
    if (this.status !== "open") return;
    const inNumber = this.#state === "number" && this.#number.complete;
    if (inNumber && this.#tree.depth === 0) this.#add(this.#number.take(), this.#length);
    else {
      const expected = inNumber ? this.#expectedBehindValue() : this.#expected();
      this.#refuse("incomplete", this.#length, expected, "the end of the text");
    }
  }

  #read(text: string): void {
    let at = 0;
    while (at < text.length) at = this.#step(text, at);
    this.#length += text.length;
  }

  /** Reads one token or a part of one. Returns where the next begins. */
  #step(text: string, at: number): number {
    switch (this.#state) {
      case "string":
      case "key text":
        return this.#readString(text, at);
      case "number":
        return this.#readNumber(text, at);
      case "literal":
        return this.#readLiteral(text, at);
      default:
        return this.#readStructure(text, at);
    }
  }

  #readString(text: string, from: number): number {
    const at = this.#string.scan(text, from);
    if (!this.#string.closed) return at === text.length ? at : this.#unexpected(text, at);
    const string = this.#string.take();
    if (this.#state === "string") this.#add(string, this.#length + at);
    else {
      this.#tree.name(string);
      this.#state = "colon";
    }
    return at;
  }

  #readNumber(text: string, from: number): number {
    const at = this.#number.scan(text, from);
    if (at === text.length) return at;
    if (!this.#number.complete || this.#number.forbids(text.charCodeAt(at)))
      return this.#unexpected(text, at);
    const number = this.#number.take();
    this.#tree.add(number, this.#number.spelling);
    this.#valueAdded(this.#length + at);
    return at;
  }

  #readLiteral(text: string, from: number): number {
    const word = this.#literal;
    let at = from;
    for (; at < text.length && this.#matched < word.length; at++, this.#matched++) {
      if (text.charCodeAt(at) !== word.charCodeAt(this.#matched)) return this.#unexpected(text, at);
    }
    if (this.#matched === word.length) this.#add(LITERALS[word], this.#length + at);
    return at;
  }

  #readStructure(text: string, at: number): number {
    const code = text.charCodeAt(at);
    if (chars.isSpace(code)) return at + 1;
    switch (this.#state) {
      case "value":
        return this.#beginValue(text, at, code);
      case "first element":
        return code === chars.CLOSE_ARRAY ? this.#close(at) : this.#beginValue(text, at, code);
      case "first key":
        return code === chars.CLOSE_OBJECT ? this.#close(at) : this.#beginKey(text, at, code);
      case "key":
        return this.#beginKey(text, at, code);
      case "colon":
        return code === chars.COLON ? this.#enter("value", at) : this.#unexpected(text, at);
      case "after value":
        return this.#afterValue(text, at, code);
      default:
        return this.#unexpected(text, at);
    }
  }

  #beginValue(text: string, at: number, code: number): number {
    switch (code) {
      case chars.QUOTE:
        return this.#enter("string", at);
      case chars.OPEN_OBJECT:
      case chars.OPEN_ARRAY:
        return this.#open(text, at, code);
      case chars.LETTER_T:
        return this.#enterLiteral("true", at);
      case chars.LETTER_F:
        return this.#enterLiteral("false", at);
      case chars.LETTER_N:
        return this.#enterLiteral("null", at);
      default:
        if (!chars.beginsNumber(code)) return this.#unexpected(text, at);
        this.#state = "number";
        return at;
    }
  }

  #beginKey(text: string, at: number, code: number): number {
    return code === chars.QUOTE ? this.#enter("key text", at) : this.#unexpected(text, at);
  }

  #afterValue(text: string, at: number, code: number): number {
    const { inArray } = this.#tree;
    if (code === chars.COMMA) return this.#enter(inArray ? "value" : "key", at);
    return code === (inArray ? chars.CLOSE_ARRAY : chars.CLOSE_OBJECT)
      ? this.#close(at)
      : this.#unexpected(text, at);
  }

  #open(text: string, at: number, code: number): number {
    if (this.#tree.depth >= this.#maxDepth) {
      const found = nameUnit(text.charAt(at));
      this.#refuse("depth", this.#length + at, `at most ${this.#maxDepth} nested objects and arrays`, found);
      return text.length;
    }
    if (code === chars.OPEN_ARRAY) this.#tree.openArray();
    else this.#tree.openObject();
    return this.#enter(code === chars.OPEN_ARRAY ? "first element" : "first key", at);
  }

  #close(at: number): number {
    this.#tree.close();
    this.#valueAdded(this.#length + at + 1);
    return at + 1;
  }

  #add(value: JsonValue, end: number): void {
    this.#tree.add(value);
    this.#valueAdded(end);
  }

  #valueAdded(end: number): void {
    if (this.#tree.depth > 0) this.#state = "after value";
    else {
      this.#state = "done";
      this.#completeAt = end;
    }
  }

  #enter(state: State, at: number): number {
    this.#state = state;
    return at + 1;
  }

  #enterLiteral(word: keyof typeof LITERALS, at: number): number {
    this.#literal = word;
    this.#matched = 1;
    return this.#enter("literal", at);
  }

  #unexpected(text: string, at: number): number {
    const reason = this.#state === "done" ? "trailing" : "syntax";
    this.#refuse(reason, this.#length + at, this.#expected(), nameUnit(text.charAt(at)));
    return text.length;
  }

  #refuse(reason: JsonErrorReason, offset: number, expected: string, found: string): void {
    this.#error = { reason, offset, expected, found };
  }

  #expected(): string {
    switch (this.#state) {
      case "after value":
        return this.#expectedBehindValue();
      case "key text":
      case "string":
        return this.#string.expected;
      case "number":
        return this.#number.expected;
      case "literal":
        return `"${this.#literal}"`;
      default:
        return EXPECTED[this.#state];
    }
  }

  #expectedBehindValue(): string {
    return this.#tree.inArray ? '"," or "]"' : '"," or "}"';
  }
}
