import type { RepairName } from "../../../json/repair-names.ts";
import type { Emit, TextEvent } from "../reader.ts";

const BLANK = /^\s*$/;

/**
 * Gives out what a grammar finds. White space between markup and the next text belongs to neither until that text comes, so that
 * a reply of calls has no content.
 */
export class Output {
  #emit: Emit = () => {};
  #recorded: TextEvent[] | undefined;
  #calls = 0;
  #callsBefore = 0;
  #blanks = "";
  #afterMarkup = false;
  #thought = false;

  /** Content would go out as it is. */
  get plain(): boolean {
    return !this.#afterMarkup && this.#recorded === undefined;
  }

  /** Where events go from now on. */
  to(emit: Emit): void {
    this.#emit = emit;
  }

  content(text: string): void {
    if (text === "") return;
    if (this.#afterMarkup) {
      this.#blanks += text;
      if (BLANK.test(text)) return;
      this.#send({ kind: "content", text: this.#blanks });
      this.#blanks = "";
      this.#afterMarkup = false;
    } else this.#send({ kind: "content", text });
  }

  reasoning(text: string): void {
    if (text !== "") this.#send({ kind: "reasoning", text });
  }

  /** Thoughts that come one by one, each in a line of its own. */
  thought(text: string): void {
    if (text.trim() === "") return;
    this.reasoning(this.#thought ? `\n${text}` : text);
    this.#thought = true;
  }

  /** Takes a thought piece by piece. */
  newThought(): (text: string) => void {
    let begun = false;
    return (text) => {
      // White space before it comes in any cut.
      const rest = begun ? text : text.trimStart();
      if (begun) this.reasoning(rest);
      else this.thought(rest);
      begun ||= rest !== "";
    };
  }

  /** Begins a call and returns its number. */
  call(name: string, id?: string): number {
    const call = this.#calls++;
    this.markup();
    this.#send({ kind: "call", call, name, id });
    return call;
  }

  arguments(call: number, text: string, repairs?: readonly RepairName[]): void {
    if (text !== "") this.#send({ kind: "arguments", call, text, ...(repairs && { repairs }) });
  }

  callEnd(call: number): void {
    this.#send({ kind: "call_end", call });
  }

  /** A call with everything it has. */
  wholeCall(name: string, text: string, id?: string, repairs?: readonly RepairName[]): void {
    const call = this.call(name, id);
    this.arguments(call, text, repairs);
    this.callEnd(call);
  }

  /** Markup begins or ends here: a call, or the end of a think block. */
  markup(): void {
    this.#afterMarkup = true;
    this.#blanks = "";
  }

  /** From now on events are kept back. */
  record(): void {
    this.#recorded = [];
    this.#callsBefore = this.#calls;
  }

  /** Gives out what was kept back, or forgets it. */
  settle(keep: boolean): void {
    const events = this.#recorded ?? [];
    this.#recorded = undefined;
    if (keep) for (const event of events) this.#emit(event);
    else this.#calls = this.#callsBefore;
  }

  #send(event: TextEvent): void {
    if (this.#recorded) this.#recorded.push(event);
    else this.#emit(event);
  }
}
