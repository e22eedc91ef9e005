import { compilePattern } from "./schema/pattern.ts";

/** Longer patterns are not tried. */
const MAX_LENGTH = 256;
const MAX_REPEATS = 20;
const CLASSES: Readonly<Record<string, string>> = { d: "1", w: "a", s: " ", D: "a", W: "-", S: "a" };

/**
 * A text that matches a regular expression, for expressions of literals, classes, groups, alternatives and repetitions;
 * `undefined` where none was found. What is returned has been matched.
 */
export function exampleOfPattern(pattern: string): string | undefined {
  if (pattern.length > MAX_LENGTH) return undefined;
  const text = new Sketch(pattern).draw();
  try {
    return compilePattern(pattern).test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the simplest text that an expression seems to ask for: the first alternative, and each repetition at its least. */
class Sketch {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  draw(): string {
    const first = this.#sequence();
    // The other alternatives are read and thrown away.
    while (this.#source[this.#at] === "|") {
      this.#at++;
      this.#sequence();
    }
    return first;
  }

  #sequence(): string {
    let text = "";
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? "")) {
      const atom = this.#atom();
      text += atom.repeat(this.#repeats(atom));
    }
    return text;
  }

  #atom(): string {
    const unit = this.#source[this.#at++] ?? "";
    switch (unit) {
      case "^":
      case "$":
        return "";
      case ".":
        return "a";
      case "\\":
        return this.#escape();
      case "[":
        return this.#class();
      case "(":
        return this.#group();
      default:
        return unit;
    }
  }

  #escape(): string {
    const unit = this.#source[this.#at++] ?? "";
    return unit === "b" || unit === "B" ? "" : (CLASSES[unit] ?? unit);
  }

  #group(): string {
    const head = /^\?(?::|<?[A-Za-z_]\w*>|P<\w+>)/.exec(this.#source.slice(this.#at));
    this.#at += head?.[0].length ?? 0;
    const inner = this.draw();
    this.#at++;
    return inner;
  }

  /** The first character of a class; of one that excludes, a character that it seldom names. */
  #class(): string {
    const excludes = this.#source[this.#at] === "^";
    if (excludes) this.#at++;
    const unit = this.#source[this.#at++] ?? "";
    const first = unit === "\\" ? this.#escape() : unit;
    while (this.#at < this.#source.length && this.#source[this.#at] !== "]") {
      this.#at += this.#source[this.#at] === "\\" ? 2 : 1;
    }
    this.#at++;
    return excludes ? "x" : first;
  }

  #repeats(atom: string): number {
    const found = /^(?:[?*+]|\{(\d+)(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at));
    if (!found || atom === "") return 1;
    this.#at += found[0].length;
    const least = Number(found[1] ?? 0);
    // One of what may be left out says more than none of it, except where it is a question.
    return found[0].startsWith("?") ? 0 : Math.min(Math.max(least, 1), MAX_REPEATS);
  }
}
