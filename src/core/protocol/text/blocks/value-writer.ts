import type { CallWriter } from "./call-writer.ts";
import { inString } from "./json-text.ts";
import type { SchemaView } from "./schema-view.ts";
import { jsonText, mayBeNull, typedText } from "./typed-text.ts";

/** How a value says its own type: as the schema has it, as a string, or as JSON. */
export type ValueKind = "schema" | "string" | "json";

/** What around a value belongs to the markup: nothing, one line end on each side, or the marks of a CDATA section. */
export type Frame = "none" | "lines" | "cdata";

const CDATA_OPEN = "<![CDATA[";
const CDATA = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/;

/** Takes the text of one value and writes it as JSON: a string as it comes, everything else when it is whole. */
export class ValueWriter {
  readonly #writer: CallWriter;
  readonly #schema: SchemaView;
  readonly #kind: ValueKind;
  readonly #frame: Frame;
  #held = "";
  #begun = false;
  #streaming = false;

  constructor(writer: CallWriter, schema: SchemaView, kind: ValueKind, frame: Frame) {
    this.#writer = writer;
    this.#schema = schema;
    this.#kind = kind;
    this.#frame = frame;
  }

  push(text: string): void {
    this.#held += text;
    // What begins like a frame may be one.
    if (!this.#begun && this.#frame !== "none" && this.#mayOpen()) return;
    if (!this.#begun && this.#frame === "lines") this.#held = this.#held.replace(/^\r?\n/, "");
    this.#begun = true;
    if (this.#streaming || this.#isString()) this.#stream();
  }

  /** The value is whole. */
  end(): void {
    const rest = this.#unframed();
    if (this.#streaming) this.#writer.write(`${inString(rest)}"`);
    else if (this.#kind === "string") this.#writer.write(JSON.stringify(rest));
    else
      this.#writer.write(
        this.#kind === "json" ? jsonText(rest, this.#schema) : typedText(rest, this.#schema),
      );
  }

  #mayOpen(): boolean {
    if (this.#frame === "lines") return this.#held === "" || this.#held === "\r";
    const start = this.#held.trimStart().slice(0, CDATA_OPEN.length);
    return CDATA_OPEN.startsWith(start);
  }

  #unframed(): string {
    if (this.#frame === "none") return this.#held;
    if (this.#frame === "cdata") return CDATA.exec(this.#held)?.[1] ?? this.#held;
    const opened = this.#begun ? this.#held : this.#held.replace(/^\r?\n/, "");
    return opened.replace(/\r?\n$/, "");
  }

  #isString(): boolean {
    if (this.#kind !== "schema") return this.#kind === "string";
    const { types } = this.#schema;
    if (types.size > 0 && !types.has("string")) return false;
    return !types.has("null") || !mayBeNull(this.#held);
  }

  #stream(): void {
    const end = this.#frame === "lines" ? this.#held.search(/\r?\n?$/) : this.#held.length;
    const text = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    this.#writer.write(`${this.#streaming ? "" : '"'}${inString(text)}`);
    this.#streaming = true;
  }
}
