import assert from "node:assert/strict";
import type { Block } from "./markdown.ts";

const ANYTHING = "…";

/** Fails unless a program printed what the block shows; `…` in the block stands for anything. */
export function assertPrints(printed: string, expected: Block): void {
  if (expected.language === "json") assertHolds(JSON.parse(printed), JSON.parse(expected.text), "$");
  else assert.match(printed.trim(), asPattern(expected.text.trim()));
}

/** Members that `wanted` does not name are not looked at; arrays must have the same length. */
function assertHolds(actual: unknown, wanted: unknown, path: string): void {
  if (wanted === ANYTHING) {
    assert.notEqual(actual, undefined, `${path} is missing`);
  } else if (typeof wanted === "string") {
    assert.match(String(actual), asPattern(wanted), path);
  } else if (typeof wanted !== "object" || wanted === null) {
    assert.equal(actual, wanted, path);
  } else {
    assert.ok(typeof actual === "object" && actual !== null, `${path} is ${JSON.stringify(actual)}`);
    if (Array.isArray(wanted)) assert.equal((actual as unknown[]).length, wanted.length, `${path}.length`);
    for (const [key, value] of Object.entries(wanted)) {
      assertHolds((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
    }
  }
}

function asPattern(text: string): RegExp {
  const parts = text.split(ANYTHING).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*?")}$`);
}
