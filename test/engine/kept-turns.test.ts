import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatMessage } from "../../src/core/protocol/wire.ts";
import { restoreTurns } from "../../src/engine/kept-turns.ts";
import type { KeptTurnStore } from "../../src/engine/ports/stores.ts";
import { callStream, textStream } from "../support/chunks.ts";
import { fakeKeptTurns } from "../support/kept-turns.ts";
import { ASK, askCall, perform, weather } from "../support/perform.ts";

const DAY = 24 * 60 * 60 * 1_000;
const OWNER = { caller: "app", user: undefined };
const QUESTION: ChatMessage = { role: "user", content: "hi" };

const toolMessage = (id: string, content: string): ChatMessage => ({
  role: "tool",
  tool_call_id: id,
  content,
});
const assistant = (...ids: string[]): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "ask", arguments: "{}" } })),
});

/** A store that holds one mixed turn: gateway rounds as many as told, then calls in the given order. */
async function keptTurn(calls = [weather("s1"), askCall, weather("s2")], rounds = 0, request: object = {}) {
  const keptTurns = fakeKeptTurns();
  const earlier = Array.from({ length: rounds }, (_, round) => callStream(weather(`r${round}`)));
  await perform([...earlier, callStream(...calls)], {
    keptTurns,
    now: () => 0,
    request: { tools: [ASK], ...request },
  });
  return keptTurns;
}

const restore = (store: KeptTurnStore, messages: ChatMessage[], now = 1, owner = OWNER) =>
  restoreTurns(store, owner, messages, now, {
    locale: "en",
    told: async (message) => message,
    other: async () => undefined,
  });

const back = [QUESTION, assistant("u1"), toolMessage("u1", "Paris")];
const idsOf = (messages: readonly ChatMessage[]) =>
  messages.map(
    ({ role, tool_call_id, tool_calls }) => tool_call_id ?? tool_calls?.map(({ id }) => id).join() ?? role,
  );

test("the model's own message and every result are put back in the order of its calls", async () => {
  const restored = await restore(await keptTurn(), back);
  assert.deepEqual(idsOf(restored), ["user", "s1,u1,s2", "s1", "u1", "s2"]);
  assert.equal(restored[3]?.content, "Paris");
  assert.match(`${restored[2]?.content}`, /"data":"rain"/);
});

test("what the gateway's rounds before the turn added comes back before it", async () => {
  const restored = await restore(await keptTurn([askCall], 2), back);
  assert.deepEqual(idsOf(restored), ["user", "r0", "r0", "r1", "r1", "u1", "u1"]);
});

test("the rest of the conversation stays as it is, and later turns are found too", async () => {
  const keptTurns = await keptTurn();
  const later = [...back, { role: "assistant", content: "ok" }, { role: "user", content: "and?" }];
  const restored = await restore(keptTurns, later);
  assert.deepEqual(idsOf(restored), ["user", "s1,u1,s2", "s1", "u1", "s2", "assistant", "user"]);
  assert.equal(restored[0], QUESTION);
});

test("several calls of the client are answered by the client, in the model's order, whatever order it chose", async () => {
  const store = await keptTurn([{ ...askCall, id: "u1" }, weather("s1"), { ...askCall, id: "u2" }]);
  const messages = [QUESTION, assistant("u1", "u2"), toolMessage("u2", "b"), toolMessage("u1", "a")];
  assert.deepEqual(
    (await restore(store, messages)).map(({ content }) => content).filter((text) => /^[ab]$/.test(`${text}`)),
    ["a", "b"],
  );
});

test("a call that the client leaves unanswered is answered for it", async () => {
  const store = await keptTurn([askCall, weather("s1"), { ...askCall, id: "u2" }]);
  const restored = await restore(store, [QUESTION, assistant("u1", "u2"), toolMessage("u1", "a")]);
  assert.deepEqual(idsOf(restored), ["user", "u1,s1,u2", "u1", "s1", "u2"]);
  assert.match(`${restored[4]?.content}`, /expired and is not known/);
});

test("after a day the model is told that results have expired; the client's own answers stay", async () => {
  const store = await keptTurn([weather("s1"), askCall], 1);
  const young = await restore(store, back, DAY);
  assert.doesNotMatch(JSON.stringify(young), /expired/);
  const old = await restore(store, back, DAY + 1);
  assert.deepEqual(idsOf(old), ["user", "r0", "r0", "s1,u1", "s1", "u1"]);
  const contents = old.map(({ content }) => String(content));
  assert.deepEqual(
    contents.map((text) => text.includes("has expired")),
    [false, false, true, false, true, false],
  );
  assert.match(`${contents[2]}`, /"tool_name":"get_weather"/);
});

for (const [name, owner, messages] of [
  ["another caller", { ...OWNER, caller: "other" }, back],
  ["another user", { ...OWNER, user: "bob" }, back],
  ["another question before the same id", OWNER, [{ role: "user", content: "bye" }, ...back.slice(1)]],
  ["another id", OWNER, [QUESTION, assistant("u9"), toolMessage("u9", "x")]],
  ["a message without calls", OWNER, [QUESTION, { role: "assistant", content: "u1" }]],
] as [string, typeof OWNER, ChatMessage[]][]) {
  test(`${name} brings nothing back`, async () => {
    const restored = await restore(await keptTurn(), messages, 1, owner);
    assert.deepEqual(restored, messages);
  });
}

test("a question in parts is the same question", async () => {
  const messages = [
    {
      role: "user",
      content: [
        { type: "text", text: "h" },
        { type: "text", text: "i" },
      ],
    },
    ...back.slice(1),
  ];
  assert.equal((await restore(await keptTurn(), messages)).length, 5);
});

test("ids of a turn that was put back are not given again", async () => {
  const keptTurns = await keptTurn([weather("call_0"), askCall]);
  const messages = await restore(keptTurns, back);
  const { target } = await perform([callStream(weather("call_0", "b")), textStream("x")], {
    request: { messages, tools: [ASK] },
  });
  const sent = target.asked(1)["messages"] as ChatMessage[];
  const ids = sent.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  assert.deepEqual([ids.length, new Set(ids).size], [3, 3]);
});
