import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Screen } from "../../demo/screen.ts";

/** A screen, and what it has written. */
function screen(width: number): { screen: Screen; written: () => string } {
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  return { screen: new Screen({ width, write, paint: (_, text) => text }), written: () => written };
}

/** Left and right side of every row. */
const sides = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((row) => row.split("│").map((cell) => cell.trim()));

describe("the two columns", () => {
  test("put a line of the gateway beside the client's line that is open", () => {
    const { screen: view, written } = screen(120);
    view.client("It is ");
    view.gateway(1.234, "round 2");
    view.client("21 °C.");
    view.end();
    assert.deepEqual(sides(written()), [
      ["It is", "1.23 s  round 2"],
      ["21 °C.", ""],
    ]);
  });

  test("write a word as soon as it is whole", () => {
    const { screen: view, written } = screen(120);
    view.client("It is wa");
    assert.equal(written(), "It is");
    view.client("rm ");
    assert.equal(written(), "It is warm");
  });

  test("stay straight whatever the text and however it is cut", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.constantFrom(" ", "\n", "天气", "word "),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const { screen: view, written } = screen(100);
        for (const text of pieces) view.client(text);
        view.end();
        const rows = written().split("\n").slice(0, -1);
        assert.ok(rows.every((row) => row.endsWith("│")));
        const kept = rows.map((row) => row.slice(0, -1).replace(/\s/gu, "")).join("");
        assert.equal(kept, pieces.join("").replace(/[\s\p{Cc}]/gu, ""));
      }),
    );
  });

  test("give wide characters two columns", () => {
    const { screen: view, written } = screen(100);
    view.client("天气 ok\nok\n");
    const [wide = "", narrow = ""] = written().split("\n");
    assert.equal(narrow.indexOf("│") - wide.indexOf("│"), 2);
  });

  test("never let a control character through", () => {
    const { screen: view, written } = screen(120);
    view.client("a\x1b[31mb\x07\r\n");
    view.gateway(0, "c\x1b[2Jd\ne");
    view.clientNote("f\x9bg");
    assert.doesNotMatch(written(), /[^\P{Cc}\n]/u);
  });
});

describe("one column", () => {
  test("puts the gateway's lines between the client's, behind a bar", () => {
    const { screen: view, written } = screen(99);
    view.client("It is ");
    view.gateway(1.5, "round 2");
    view.gateway(undefined, "more");
    view.client("21 °C.\n");
    assert.equal(written(), "It is\n│  1.50 s  round 2\n│          more\n21 °C.\n");
  });
});
