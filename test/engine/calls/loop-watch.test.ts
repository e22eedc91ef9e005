import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolReply } from "../../../src/engine/ports/tools.ts";
import { callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { perform } from "../../support/perform.ts";
import { readStream } from "../../support/sink.ts";

const TOOLS = ["a", "b", "c"].map((name) => toolNamed(name));

/** Plays one round for each word, whose letters are calls of these tools: `ab` calls both. Always with the same arguments. */
function circle(words: string, scene: Partial<Scene> = {}) {
  const rounds = words
    .split(" ")
    .map((word, round) =>
      callStream(...[...word].map((name, at) => ({ id: `${round}-${at}`, name, args: '{"city":"Oslo"}' }))),
    );
  return perform([...rounds, textStream("Enough.")], { tools: TOOLS, limits: { tool_calls: 50 }, ...scene });
}

const failing = () => fakeTransport(() => toolReply({ error: "gone" }, { status: 404 }));

for (const [words, stop] of [
  ["a b a", "completed"],
  ["a b a b", "completed"],
  ["a b a b a", "loop_guard"],
  ["a b c a b c", "completed"],
  ["a b c a b c a", "loop_guard"],
  ["ab c ab c", "completed"],
  ["ab c ab c ab", "loop_guard"],
  ["ab ab", "completed"],
  ["a a", "completed"],
  ["a a a", "loop_guard"],
  ["a b c b", "completed"],
] as const) {
  test(`rounds ${words}: ${stop}`, async () => {
    const played = await circle(words);
    assert.equal(played.stop, stop);
    const rounds = words.split(" ").length;
    assert.equal(played.target.requests.length, rounds + 1);
    assert.equal(played.target.asked(rounds)["tool_choice"], stop === "completed" ? undefined : "none");
    assert.equal(readStream(played.text).content, "Enough.");
  });
}

test("calls that fail are made again, and are a loop when the same failures come again", async () => {
  for (const [words, stop] of [
    ["a a", "completed"],
    ["a a a", "loop_guard"],
    ["a b a b a b a", "completed"],
    ["a b a b a b a b", "loop_guard"],
    ["b a c a c a c a c", "loop_guard"],
    ["a b a c a", "completed"],
  ] as const) {
    const transport = failing();
    const played = await circle(words, { transport });
    assert.deepEqual([played.stop, transport.sent.length], [stop, words.split(" ").length], words);
  }
});

test("another result each time is no loop", async () => {
  let n = 0;
  const transport = fakeTransport((): ToolReply => toolReply({ error: `busy ${++n}` }, { status: 409 }));
  assert.equal((await circle("a b a b a b a b a", { transport })).stop, "completed");
});

test("a call that was refused is no part of a cycle: its own limit ends the run", async () => {
  const wrong = ["a", "b", "a", "b"].map((name, at) => callStream({ id: `${at}`, name, args: "{}" }));
  const { stop } = await perform([...wrong, textStream("x")], { tools: TOOLS });
  assert.equal(stop, "completed");
});

test("the client is told of a cycle, and it is counted", async () => {
  const { text, scope } = await circle("a b a b a b a b", { events: true, transport: failing() });
  const guards = [...text.matchAll(/"type":"loop\.guard","call_id":"([^"]+)","name":"(\w)","round":(\d)/g)];
  assert.deepEqual(
    guards.map(([, ...told]) => told),
    [["7-0", "b", "8"]],
  );
  assert.deepEqual(
    scope.notes.filter(([name]) => name === "looped"),
    [["looped", "cycle"]],
  );
});

test("once it has repeated itself the model is told so in its instructions, from the next round on", async () => {
  const system = { role: "system", content: "Be brief." };
  const messages = [system, { role: "user", content: "hi" }];
  const { target } = await circle("a a b", { request: { messages } });
  const told = [0, 1, 2, 3].map((at) => (target.asked(at)["messages"] as { content: string }[])[0]?.content);
  assert.deepEqual(told.slice(0, 2), ["Be brief.", "Be brief."]);
  for (const text of told.slice(2))
    assert.match(`${text}`, /^Be brief\.\n\nYou have made the same tool call again/);
  const last = target.asked(3)["messages"] as { role: string }[];
  assert.deepEqual(
    last.map(({ role }) => role),
    ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool"],
  );
});

test("without instructions of the client the hint is the first message; with hints off there is none", async () => {
  const zh = await circle("a a", { locale: "zh" });
  const [first, second] = zh.target.asked(2)["messages"] as { role: string; content: string }[];
  assert.deepEqual([first?.role, second?.role], ["system", "user"]);
  assert.match(`${first?.content}`, /重复/);
  const off = await circle("a a", { hints: false });
  assert.equal((off.target.asked(2)["messages"] as { role: string }[])[0]?.role, "user");
});
