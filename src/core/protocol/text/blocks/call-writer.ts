import type { RepairName } from "../../../json/repair-names.ts";
import type { Output } from "../machine/output.ts";

/**
 * Writes one call, member by member, as the text of a JSON object. What is `live` goes out at once; the rest is kept until the
 * call is whole, and a call that is dropped leaves no trace.
 */
export class CallWriter {
  readonly #out: Output;
  readonly #name: string;
  readonly #call: number | undefined;
  /** Whether the call goes out as it comes. */
  readonly live: boolean;
  #kept = "";
  /** What was put right in what is kept. */
  #repairs: readonly RepairName[] | undefined;
  readonly #members = new Set<string>();
  #raw = false;

  constructor(out: Output, name: string, live: boolean) {
    this.#out = out;
    this.#name = name;
    this.live = live;
    this.#call = live ? out.call(name) : undefined;
  }

  /** Begins a member; its value's JSON follows by `write`. */
  member(name: string): void {
    this.#put(`${this.#members.size === 0 ? "{" : ", "}${JSON.stringify(name)}: `);
    this.#members.add(name);
  }

  write(json: string): void {
    this.#put(json);
  }

  /** A piece of the arguments' whole text, as the model wrote it; `repairs`: with this put right. */
  raw(text: string, repairs?: readonly RepairName[]): void {
    this.#raw = true;
    this.#put(text, repairs);
  }

  /** Nothing has been written yet. */
  get empty(): boolean {
    return this.#members.size === 0 && !this.#raw;
  }

  /** Whether all of these members are there, as far as that can be told. */
  hasAll(names: readonly string[]): boolean {
    return this.#raw || names.every((name) => this.#members.has(name));
  }

  end(): void {
    if (!this.#raw) this.#put(this.#members.size === 0 ? "{}" : "}");
    if (this.#call === undefined) this.#out.wholeCall(this.#name, this.#kept, undefined, this.#repairs);
    else this.#out.callEnd(this.#call);
  }

  #put(text: string, repairs?: readonly RepairName[]): void {
    if (this.#call === undefined) {
      this.#kept += text;
      this.#repairs = repairs ?? this.#repairs;
    } else this.#out.arguments(this.#call, text, repairs);
  }
}
