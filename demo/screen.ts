/** How a text looks, by names of `util.styleText`. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export interface ScreenOptions {
  /** Columns of the terminal. */
  width: number;
  write(text: string): void;
  /** Adds colour, where there may be any. */
  paint(style: Style, text: string): string;
}

/** Below it one column: two would be too narrow to read. */
const TWO_COLUMNS = 100;
const WIDEST = 150;
/** Characters before the text of the gateway's lines: `12.34 s  `. */
const TIME = 9;
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff00-\uff60]/u;

/**
 * What the client sees, beside what the gateway does, in the order of time.
 *
 * 1. Words of the client's text are written as soon as they are whole; nothing that was written is changed later.
 * 2. A line of the gateway stands beside the client's line that was open when it came.
 * 3. In less than 100 columns the gateway's lines stand between the client's, behind a bar.
 * 4. Control characters of either side never reach the terminal.
 */
export class Screen {
  readonly #options: ScreenOptions;
  readonly #wide: boolean;
  readonly #left: number;
  readonly #right: number;
  /** The open line of the client, as it stands on the terminal. */
  #open = "";
  /** The end of the client's text that may still grow. */
  #word = "";

  constructor(options: ScreenOptions) {
    const width = Math.min(options.width, WIDEST) - 1;
    this.#options = options;
    this.#wide = options.width >= TWO_COLUMNS;
    this.#left = this.#wide ? Math.floor(width * 0.38) : width;
    this.#right = this.#wide ? width - this.#left - 3 : width - 2;
  }

  /** The heads of the columns. */
  head(client: string, gateway: string): void {
    const { paint } = this.#options;
    if (!this.#wide) {
      this.#line(`${paint("bold", client)}, and ${paint("bold", `│ ${gateway}`)}`);
      this.#line(paint("dim", "─".repeat(this.#left)));
      return;
    }
    this.#line(`${paint("bold", client.padEnd(this.#left))} │ ${paint("bold", gateway)}`);
    this.#line(paint("dim", `${"─".repeat(this.#left)}─┼─${"─".repeat(this.#right)}`));
  }

  /** A piece of the text that the client sees. */
  client(text: string): void {
    for (const char of text.replaceAll("\r\n", "\n")) {
      if (char === "\n") {
        this.#place();
        this.#close("");
      } else if (char === " ") {
        this.#place();
        this.#word = " ";
      } else if (!/\p{Cc}/u.test(char)) {
        this.#word += char;
        if (widthOf(char) > 1) this.#place();
      }
    }
  }

  /** Something else that the client sees, in lines of its own below an empty one. */
  clientNote(text: string): void {
    this.end();
    this.#close("");
    for (const line of wrap(clean(text), this.#left)) {
      this.#show(line, "dim");
      this.#close("");
    }
  }

  /** Something that the gateway did, `seconds` after the question was sent. Without a time it belongs to the line before. */
  gateway(seconds: number | undefined, text: string, style?: Style): void {
    this.#place();
    const { paint } = this.#options;
    const lines = wrap(clean(text), this.#right - TIME);
    for (const [at, line] of lines.entries()) {
      const time = at === 0 && seconds !== undefined ? `${seconds.toFixed(2)} s` : "";
      const left = paint("dim", time.padStart(TIME - 2).padEnd(TIME));
      this.#close(left + (style ? paint(style, line) : line));
    }
  }

  /** Ends the open line. */
  end(): void {
    this.#place();
    if (this.#open !== "") this.#close("");
  }

  /** Writes the word that has gathered, on the next line if it does not fit on this one. */
  #place(): void {
    let word = this.#word;
    this.#word = "";
    if (widthOf(this.#open) + widthOf(word) > this.#left) {
      if (this.#open !== "") this.#close("");
      word = word.trimStart();
    }
    for (const line of wrap(word, this.#left)) {
      if (this.#open !== "" && widthOf(this.#open) + widthOf(line) > this.#left) this.#close("");
      this.#show(this.#open === "" ? line.trimStart() : line);
    }
  }

  #show(text: string, style?: Style): void {
    this.#options.write(style ? this.#options.paint(style, text) : text);
    this.#open += text;
  }

  /** Ends the line that is open, with what the gateway did beside it. */
  #close(gateway: string): void {
    const { write, paint } = this.#options;
    const bar = paint("dim", "│");
    if (this.#wide) {
      write(
        `${" ".repeat(Math.max(0, this.#left - widthOf(this.#open)))} ${bar}${gateway && ` ${gateway}`}\n`,
      );
    } else {
      const isNewLine = gateway !== "" && this.#open !== "";
      write(`${isNewLine ? "\n" : ""}${gateway && `${bar} ${gateway}`}\n`);
    }
    this.#open = "";
  }

  #line(text: string): void {
    this.#options.write(`${text}\n`);
  }
}

function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}

/** Columns that a text takes on a terminal. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += WIDE.test(char) ? 2 : /\p{Mn}/u.test(char) ? 0 : 1;
  return width;
}

/** Breaks between words, and inside one that is wider than the line. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const part of text.match(/\s*\S+/gu) ?? []) {
    if (line !== "" && widthOf(line + part) > width) {
      lines.push(line);
      line = part.trimStart();
    } else line += part;
    while (widthOf(line) > width) {
      const fits = fitting(line, width);
      lines.push(fits);
      line = line.slice(fits.length);
    }
  }
  if (line !== "") lines.push(line);
  return lines;
}

function fitting(text: string, width: number): string {
  let fits = "";
  for (const char of text) {
    if (fits !== "" && widthOf(fits + char) > width) break;
    fits += char;
  }
  return fits;
}
