import assert from "node:assert/strict";
import { test } from "node:test";
import type { Expectation } from "../../scripts/cases/case-file.ts";
import { readAnswer } from "../../scripts/cases/client.ts";
import { isSame, readJson } from "../../scripts/cases/json.ts";
import { judge, type Replay } from "../../scripts/cases/judge.ts";

/** A replay in which the tool `get` ran with `{a: 1}` and the client read `Done.` */
function replay(change: { seen?: Partial<Replay["seen"]>; told?: string; ran?: object[] } = {}): Replay {
  const first = { messages: [{ role: "user", content: "Go." }] };
  const told = { role: "tool", content: change.told ?? "fine" };
  const second = { messages: [...first.messages, { role: "assistant" }, told] };
  return {
    seen: { status: 200, error: undefined, content: "Done.", calls: [], finish: "stop", ...change.seen },
    script: {
      turns: [],
      toolHttp: {},
      requests: [first, second],
      toolCalls: (change.ran ?? [{ name: "get", arguments: { a: 1 } }]) as Replay["script"]["toolCalls"],
    },
    clientTools: ["ask"],
  };
}

const GET = {
  tool_calls: [{ name: "get", arguments: { a: 1 } }],
  finish_reason: "tool_calls",
  content: null,
};
const NONE = { ran: [] };

for (const [name, expect, change, isFine] of [
  ["the calls that ran", GET, {}, true],
  ["other arguments", GET, { ran: [{ name: "get", arguments: { a: 2 } }] }, false],
  ["a call more", GET, { ran: [...Array(2)].map(() => ({ name: "get", arguments: { a: 1 } })) }, false],
  ["other text for the client", GET, { seen: { content: "Oops." } }, false],
  ["an error for the client", GET, { seen: { error: { message: "x" } } }, false],
  ["another finish", GET, { seen: { finish: "length" } }, false],
  ["the reduced form", { arguments: { a: 1n } }, { ran: [{ name: "probe", arguments: { a: 1 } }] }, true],
  ["a refusal that was told", { error_kind: "schema", must_mention: ["A"] }, { ...NONE, told: "a!" }, true],
  ["a refusal in other words", { error_kind: "schema", must_mention: ["b"] }, { ...NONE, told: "a!" }, false],
  [
    "a refusal with any word",
    { error_kind: "schema", must_mention_any: ["b", "a"] },
    { ...NONE, told: "a" },
    true,
  ],
  ["a refused call that ran", { error_kind: "parse" }, {}, false],
  ["a repair", { error_kind: "parse", if_repaired: {} }, { ran: [{ name: "probe", arguments: {} }] }, true],
  ["an alternative", { error_kind: "parse", alternatives: [GET] }, {}, true],
  ["an upstream error", { error_kind: "upstream" }, { seen: { error: { message: "x" } } }, true],
  ["a silent stop", { error_kind: "upstream" }, {}, false],
  ["a refused request", { error_kind: "request" }, {}, false],
  [
    "a client's call",
    { tool_calls: [{ name: "ask", arguments: {} }], finish_reason: "tool_calls" },
    { ...NONE, seen: { calls: [{ name: "ask", text: "" }], finish: "tool_calls" } },
    true,
  ],
  ["a client's call that it never saw", { tool_calls: [{ name: "ask", arguments: {} }] }, NONE, false],
] as [string, Expectation & { alternatives?: Expectation[] }, Parameters<typeof replay>[0], boolean][]) {
  test(`${name}: ${isFine ? "as expected" : "a failure"}`, () => {
    const faults = judge(expect, replay(change));
    assert.equal(faults.length === 0, isFine, faults.join("; "));
  });
}

test("values are compared with every digit, in any order of members", () => {
  assert.ok(
    isSame(readJson('{"a":1,"b":[12345678901234567890]}'), readJson('{"b":[12345678901234567890],"a":1.0}')),
  );
  assert.ok(!isSame(readJson("12345678901234567890"), readJson("12345678901234567891")));
  assert.ok(isSame(readJson("-0"), 0));
  assert.ok(!isSame({ a: null }, {}));
  assert.ok(!isSame([1], { 0: 1 }));
});

test("a stream and a whole answer are read alike", () => {
  const call = { index: 0, function: { name: "ask", arguments: "{" } };
  const whole = { choices: [{ message: { content: "Hi", tool_calls: [call] }, finish_reason: "stop" }] };
  const expected = {
    status: 200,
    error: undefined,
    content: "Hi",
    calls: [{ name: "ask", text: "{" }],
    finish: "stop",
  };
  assert.deepEqual(readAnswer(200, JSON.stringify(whole)), expected);
  const deltas = [{ content: "H" }, { content: "i", tool_calls: [call] }];
  const chunks = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`).join("");
  const finish = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  assert.deepEqual(readAnswer(200, chunks + finish), expected);
});
