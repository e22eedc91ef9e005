import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChatMessage } from "../../../src/core/protocol/wire.ts";
import { fitMessages } from "../../../src/engine/results/history.ts";
import { refusalMessage } from "../../../src/engine/results/results.ts";

const envelope = (id: string, data: unknown) =>
  JSON.stringify({ tool_call_id: id, tool_name: "look", success: true, data, error: null });

const REFERENCE = `res_${"0123456789abcdef".repeat(2)}`;

/** A user's question, a call, its result of so many bytes, and an answer. */
function turn(at: number, bytes: number, data: unknown = "x".repeat(bytes)): ChatMessage[] {
  const id = `c${at}`;
  const call = { id, type: "function", function: { name: "look", arguments: `{"n":${at}}` } };
  return [
    { role: "user", content: `Question ${at}` },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: envelope(id, data) },
    { role: "assistant", content: `Answer ${at}` },
  ];
}

const turns = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, at) => turn(at, bytes)).flat();
const isNote = ({ role, content }: ChatMessage) =>
  role === "tool" && String(content).includes("was left out");

test("below the budget nothing is changed", () => {
  const messages = turns(3, 1_000);
  const fitted = fitMessages(messages, 10_000, "en");
  assert.deepEqual(fitted.messages, messages);
  assert.equal(fitted.results, 0);
});

test("the oldest results are left out, down to three quarters of the budget", () => {
  const messages = turns(12, 1_000);
  const { messages: fitted, results, bytes, saved } = fitMessages(messages, 10_000, "en");
  assert.ok(bytes <= 10_000 && results > 0 && saved > 500 * results);
  const left = fitted.filter(({ role }) => role === "tool").map(isNote);
  assert.deepEqual(left, [...Array(results).fill(true), ...Array(12 - results).fill(false)]);
  assert.deepEqual(
    fitted.filter((message) => !isNote(message)),
    messages.filter((_, at) => !isNote(fitted[at] as ChatMessage)),
  );
});

test("a note says the tool, the size and whether it succeeded, and keeps a reference", () => {
  const failed = refusalMessage({ id: "c0", name: "look" }, "x", "No. ".repeat(500));
  const stored = turn(1, 0, { reference: REFERENCE, start: "x".repeat(2_000) });
  const foreign = turn(2, 0).map((one) =>
    one.role === "tool" ? { ...one, content: "plain ".repeat(400) } : one,
  );
  const messages = [...turn(0, 0), ...stored, ...foreign, ...turn(3, 10)];
  messages[2] = { role: "tool", tool_call_id: "c0", content: failed.content };
  const { messages: fitted } = fitMessages(messages, 1_000, "en");
  const [no, yes, plain] = fitted.filter(isNote).map(({ content }) => JSON.parse(String(content)));
  const size = Buffer.byteLength(failed.content);
  assert.deepEqual(no, {
    tool_call_id: "c0",
    tool_name: "look",
    success: false,
    data: null,
    error: "left out",
    note: `This earlier result (${size} bytes) was left out to keep the conversation short. Call the tool again if you need it and it only reads.`,
  });
  assert.deepEqual([yes.success, yes.data], [true, { reference: REFERENCE }]);
  assert.deepEqual([plain.success, plain.tool_name], [undefined, "look"]);
});

test("nothing of a result but a reference comes into the note", () => {
  const messages = [...turn(0, 0, { reference: "<|im_end|>", more: "x".repeat(2_000) }), ...turn(1, 10)];
  const [note] = fitMessages(messages, 1_000, "en").messages.filter(isNote);
  assert.equal(JSON.parse(String(note?.content)).data, null);
});

test("the results of the last turn stay, whatever the budget is", () => {
  const messages = turns(3, 50_000);
  const { messages: fitted } = fitMessages(messages, 1_000, "en");
  assert.deepEqual(fitted.filter(({ role }) => role === "tool").map(isNote), [true, true, false]);
});

test("what people and models said counts and is never touched", () => {
  const messages = [{ role: "user", content: "x".repeat(50_000) }, ...turns(3, 100)] as ChatMessage[];
  assert.deepEqual(fitMessages(messages, 1_000, "en").messages, messages);
});

test("pictures do not count", () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(50_000)}` } };
  const messages = [{ role: "user", content: [image] }, ...turns(3, 1_000)] as ChatMessage[];
  assert.equal(fitMessages(messages, 10_000, "en").results, 0);
});

test("a longer conversation begins like the shorter one, but for the times when the budget is passed", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 5, maxLength: 40 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 2_000, max: 20_000 }), (list, budget) => {
      const messages = list.flatMap((bytes, at) => turn(at, bytes));
      let changes = 0;
      let before: readonly ChatMessage[] = [];
      for (let end = 4; end <= messages.length; end += 4) {
        const { messages: now, bytes } = fitMessages(messages.slice(0, end), budget, "en");
        const same = before.every((message, at) => JSON.stringify(message) === JSON.stringify(now[at]));
        if (!same) changes++;
        before = now;
        const last = Buffer.byteLength(String(messages[end - 2]?.content));
        assert.ok(bytes <= budget + last + 600 + (end / 4) * 900);
      }
      // Each change makes a quarter of the budget free.
      const total = messages.reduce((sum, { content }) => sum + String(content ?? "").length, 0);
      assert.ok(changes <= Math.ceil((total + messages.length * 130) / (budget / 4)) + 1, `${changes}`);
    }),
    { numRuns: 200 },
  );
});

test("a long conversation takes time in proportion to its length", () => {
  const messages = turns(5_000, 1_000);
  const startedAt = performance.now();
  fitMessages(messages, 100_000, "en");
  assert.ok(performance.now() - startedAt < 1_000);
});
