import { readFileSync } from "node:fs";

/** A fenced block of a Markdown file. */
export interface Block {
  /** First word of the info string, for example `sh`. */
  language: string;
  /** Second word: what the tests do with the block, for example `test`. `""` is a block that only readers use. */
  role: string;
  text: string;
  /** Line of the opening fence, from 1. */
  line: number;
}

/** The repository's root, ending with a slash. */
export const ROOT = new URL("../../", import.meta.url);

/** The documents that make promises. */
export const DOCUMENTS = [
  "README.md",
  "docs/architecture.md",
  "docs/wire.md",
  "docs/tools.md",
  "docs/configuration.md",
  "docs/protocols.md",
  "docs/approvals.md",
  "docs/sessions.md",
  "docs/stores.md",
  "docs/operations.md",
  "AGENTS.md",
  "CONTRIBUTING.md",
] as const;

/** A file of the repository as text. */
export function readText(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** Every fenced block, in order. Fences are three backticks at the start of a line. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (!fence) {
      if (open) open.text += `${line}\n`;
    } else if (open) {
      blocks.push(open);
      open = undefined;
    } else {
      const [language = "", role = ""] = (fence[1] ?? "").trim().split(/\s+/);
      open = { language, role, text: "", line: index + 1 };
    }
  }
  return blocks;
}

/** The first cell of every row of the first table under a heading, without its backticks. */
export function firstColumn(markdown: string, heading: string): string[] {
  return tableUnder(markdown, heading).map((row) => (row[0] ?? "").replaceAll("`", ""));
}

/** The cells of every body row of the first table under a heading. */
export function tableUnder(markdown: string, heading: string): string[][] {
  const lines = markdown.split("\n");
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (start < 0) throw new Error(`There is no heading "${heading}".`);
  const rows: string[][] = [];
  for (const line of lines.slice(start + 1)) {
    if (/^#+ /.test(line)) break;
    if (line.startsWith("|")) rows.push(cells(line));
    else if (rows.length > 0) break;
  }
  return rows.slice(2);
}

function cells(row: string): string[] {
  return row
    .replace(/^\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}
