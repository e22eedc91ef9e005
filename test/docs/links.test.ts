import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { DOCUMENTS, ROOT, readText } from "./markdown.ts";

/** Headings as the anchors that a Markdown viewer gives them. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.split("\n").filter((line) => /^#+ /.test(line));
  return new Set(
    headings.map((line) =>
      line
        .replace(/^#+ /, "")
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```/gms, "").replace(/`[^`]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
}

function checkLink(document: string, link: string): void {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? new URL(document, ROOT) : new URL(path, new URL(document, ROOT));
  assert.ok(existsSync(target), `${document}: ${link}`);
  if (anchor === undefined) return;
  const file = target.href.slice(ROOT.href.length);
  assert.ok(anchorsOf(readText(file)).has(anchor), `${document}: ${link} names no heading`);
}

describe("every link of a document leads somewhere", () => {
  for (const document of [...DOCUMENTS, "CHANGELOG.md"]) {
    test(document, () => {
      const links = linksOf(readText(document)).filter((link) => !/^https?:/.test(link));
      for (const link of links) checkLink(document, link);
    });
  }
});

test("a link to a heading that does not exist is found out", () => {
  assert.deepEqual([...anchorsOf("# One `two`, three\ntext\n## Four")], ["one-two-three", "four"]);
  assert.deepEqual(linksOf("see [a](b.md#c) and `[x](y)`\n```\n[q](r)\n```\n"), ["b.md#c"]);
});
