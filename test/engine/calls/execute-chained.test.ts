import assert from "node:assert/strict";
import { test } from "node:test";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { type CallPiece, callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, play, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { fakeTarget } from "../../support/upstream.ts";

const CITY = toolNamed("get_city", {
  output: {
    type: "object",
    properties: { name: { type: "string" }, id: { type: "integer" }, tags: { type: "array" } },
  },
});
const WEATHER = toolNamed("get_weather", {
  parameters: {
    type: "object",
    properties: { place: { type: "string" }, id: { type: "integer" }, note: { type: "string" } },
  },
});

const call = (id: string, name: string, args: object): CallPiece => ({
  id,
  name,
  args: JSON.stringify(args),
});

/** Plays one message of calls and what the model reads after it. */
async function message(scene: Partial<Scene>, ...calls: CallPiece[]) {
  const target = fakeTarget([callStream(...calls), textStream("Done.")]);
  const transport = scene.transport ?? fakeTransport(() => toolReply({ name: "Oslo", id: 7, tags: [1] }));
  const played = await play({ tools: [CITY, WEATHER], ...scene, transport, targets: [target] });
  const sent = (transport as ReturnType<typeof fakeTransport>).sent;
  return { ...played, sent, answers: answersIn(target.asked(1)), target };
}

test("a call gets the results of the calls that it refers to, with their types", async () => {
  const { sent, answers, run, target } = await message(
    {},
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", {
      place: "{{get_city.data.name}}",
      id: "{{get_city.data.id}}",
      note: "in {{get_city.data.tags}}",
    }),
  );
  assert.deepEqual(sent[1]?.args, { place: "Oslo", id: 7, note: "in [1]" });
  assert.deepEqual(
    answers.map(({ tool_call_id, success }) => [tool_call_id, success]),
    [
      ["a", true],
      ["b", true],
    ],
  );
  assert.deepEqual(run.record.rounds[0]?.calls[1]?.needs, ["a"]);
  const history = JSON.stringify(target.asked(1).messages);
  assert.ok(history.includes("{{get_city.data.name}}"), "the history keeps what the model wrote");
});

test("big integers reach the second tool digit for digit", async () => {
  const body = Buffer.from('{"id":12345678901234567890}');
  const transport = fakeTransport(() => toolReply({}, { body }));
  const { sent } = await message(
    { transport },
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", { id: "{{get_city.data.id}}" }),
  );
  assert.equal(stringifyJson(sent[1]?.args as JsonObject), '{"id":12345678901234567890}');
});

test("what came in is judged as any argument is", async () => {
  const { sent, answers } = await message(
    { transport: fakeTransport(() => toolReply({ name: "Oslo", id: "many" })) },
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", { id: "{{get_city.data.id}}" }),
  );
  assert.equal(sent.length, 1);
  assert.match(`${answers[1]?.error}`, /"id" must be an integer.*"many"/);
});

for (const [name, args, sentence] of [
  [
    "a member that the tool does not return",
    { place: "{{get_city.data.nam}}" },
    /"data" has no "nam".*"name"/,
  ],
  [
    "a type that the parameter never takes",
    { id: "{{get_city.data.tags}}" },
    /gives array, but parameter "id" must be integer/,
  ],
  ["a call that is not there", { place: "{{get_town.data.name}}" }, /names no call of this message/],
] as const) {
  test(`${name} is known before anything has run, and told`, async () => {
    const { sent, answers } = await message(
      {},
      call("b", "get_weather", args),
      call("a", "get_city", { city: "x" }),
    );
    const { answers: inOrder } = await message(
      {},
      call("a", "get_city", { city: "x" }),
      call("b", "get_weather", args),
    );
    assert.ok(!sent.some(({ tool }) => tool === "get_weather"));
    assert.equal(answers[0]?.success, false);
    assert.match(`${inOrder[1]?.error}`, sentence);
  });
}

test("a place that turns out not to be there is told", async () => {
  const { sent, answers } = await message(
    { transport: fakeTransport(() => toolReply({ id: 7 })) },
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", { place: "{{get_city.data.name}}" }),
  );
  assert.equal(sent.length, 1);
  assert.match(`${answers[1]?.error}`, /"data" has no "name"\. It has "id"/);
});

test("what needs a failed call is not run, and neither is what needs that", async () => {
  const transport = fakeTransport(() => toolReply({}, { status: 404 }));
  const { sent, answers } = await message(
    { transport },
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", { place: "{{get_city.data.name}}" }),
    call("c", "get_city", { city: "{{get_weather.data.x}}" }),
  );
  assert.equal(sent.length, 1);
  assert.match(`${answers[1]?.error}`, /needs the result of "get_city"/);
  assert.match(`${answers[2]?.error}`, /needs the result of "get_weather"/);
});

test("with partial_ok it runs: the failed call is null, or nothing inside a text", async () => {
  const weather = toolNamed("get_weather", {
    partial_ok: true,
    parameters: {
      type: "object",
      properties: { place: { type: ["string", "null"] }, note: { type: "string" } },
    },
  });
  const { sent } = await message(
    {
      tools: [CITY, weather],
      transport: fakeTransport(({ tool }) => toolReply({}, { status: tool === "get_city" ? 404 : 200 })),
    },
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", { place: "{{get_city.data.name}}", note: "in {{get_city.data.name}}." }),
  );
  assert.deepEqual(sent[1]?.args, { place: null, note: "in ." });
});

test("a reference to a duplicate call leads to the result of the first", async () => {
  const { sent, answers } = await message(
    {},
    call("a", "get_city", { city: "x" }),
    call("b", "get_city", { city: "x" }),
    call("c", "get_weather", { place: "{{get_city[1].data.name}}" }),
  );
  assert.deepEqual(
    sent.map(({ tool }) => tool),
    ["get_city", "get_weather"],
  );
  assert.match(`${answers[1]?.error}`, /duplicate/);
  assert.equal(answers[2]?.success, true);
});

test("calls that turn out to be the same run once", async () => {
  const { sent, answers } = await message(
    {},
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", { place: "Oslo" }),
    call("c", "get_weather", { place: "{{get_city.data.name}}" }),
  );
  assert.equal(sent.length, 2);
  assert.match(`${answers[2]?.error}`, /the same as b/);
});

test("the tool itself never sees braces of a call, and placeholders of templates reach it as they are", async () => {
  const { sent } = await message({}, call("b", "get_weather", { note: "Dear {{name}}, {{customer.first}}" }));
  assert.deepEqual(sent[0]?.args, { note: "Dear {{name}}, {{customer.first}}" });
});

test("a reference is no reason to find a call hopeless while it arrives", async () => {
  const { sent } = await message(
    { cancelEarly: true },
    call("a", "get_city", { city: "x" }),
    call("b", "get_weather", { id: "{{get_city.data.id}}" }),
  );
  assert.equal(sent.length, 2);
});
