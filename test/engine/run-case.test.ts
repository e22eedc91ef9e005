import assert from "node:assert/strict";
import { test } from "node:test";
import { createSnapshot } from "../../src/engine/registry/tool-snapshot.ts";
import { makeCase, type RunCase } from "../../src/engine/run-case.ts";
import { GatewayError } from "../../src/errors.ts";
import { type CallPiece, callStream, textStream } from "../support/chunks.ts";
import { toolNamed } from "../support/engine.ts";
import { ASK, askCall, perform } from "../support/perform.ts";

const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
};
const TOOLS = [
  toolNamed("get_weather", { parameters }),
  toolNamed("put", { parameters, max_calls_per_run: 1 }),
  toolNamed("now", { parameters: undefined }),
  toolNamed("book", { parameters, normalize: { days: ["chinese_number"] } }),
];
const call = (id: string, args: string, name = "get_weather"): CallPiece => ({ id, name, args });

/** A case of a run in which the model makes these calls. */
async function caseOf(
  calls: readonly CallPiece[],
  id?: string,
  locale: "en" | "zh" = "en",
): Promise<RunCase> {
  const replies = [callStream(...calls), textStream("Done.")];
  const { run } = await perform(replies, { tools: TOOLS, locale, request: { tools: [ASK] } });
  const settings = { locale, repair: "safe" } as const;
  return makeCase({ record: run.record, tools: createSnapshot(1, TOOLS) }, id, settings);
}

const refusal = (message: RegExp) => (error: unknown) =>
  error instanceof GatewayError && error.code === "case_not_found" && message.test(error.message);

test("the first refused call becomes a case in both forms", async () => {
  const made = await caseOf([call("c1", '{"city":"x"}'), call("c2", '{"town":"Oslo"}'), call("c3", "{")]);
  assert.equal(made.id, "run1_1_2");
  assert.match(made.source, /run run1, call c2$/);
  assert.deepEqual([made.area, made.kind, made.request], ["schema", "missing", { stream: true }]);
  assert.match(made.what_happened, /"get_weather", and was told: .*"city"/);
  assert.deepEqual([made.arguments_text, made.parameters], ['{"town":"Oslo"}', parameters]);
  assert.deepEqual(made.tools, [JSON.parse(TOOLS[0]?.specText ?? "")]);
  const { error_kind, must_mention = [], tool_calls, rejected_calls } = made.expect;
  assert.deepEqual([error_kind, tool_calls], ["schema", []]);
  assert.ok(must_mention.includes("city") && must_mention.includes("town"), String(must_mention));
  assert.deepEqual(rejected_calls, [{ name: "get_weather", error_kind: "schema", must_mention }]);
});

test("the reply is one event with the whole raw text, one with the finish, and [DONE]", async () => {
  const raw = '{"city": "a\\n","days":12345678901234567890, ';
  const made = await caseOf([call("c1", raw)]);
  assert.deepEqual([made.area, made.expect.error_kind, made.expect.must_mention], ["json", "parse", []]);
  const [reply, ...others] = made.upstream_turns;
  assert.deepEqual(others, []);
  const [first = "", finish = "", done] = reply?.body_chunks ?? [];
  const delta = JSON.parse(first.slice(6)).choices[0].delta;
  assert.deepEqual(delta.tool_calls[0].function, { name: "get_weather", arguments: raw });
  assert.equal(JSON.parse(finish.slice(6)).choices[0].finish_reason, "tool_calls");
  assert.equal(done, "data: [DONE]\n\n");
});

test("a corrected call is a case by its id: its arguments, and what was converted", async () => {
  const calls = [call("c1", '{"city":"x","days":"12345678901234567890"}'), call("c2", '{"city":"y",}')];
  const converted = await caseOf(calls, "c1");
  assert.deepEqual(converted.expect.arguments, { city: "x", days: 12345678901234567890n });
  assert.deepEqual([converted.expect.coerced, converted.kind], [["/days"], "coerced"]);
  const repaired = await caseOf(calls, "c2");
  assert.deepEqual(repaired.expect.tool_calls, [{ name: "get_weather", arguments: { city: "y" } }]);
  await assert.rejects(caseOf(calls), refusal(/^No call of this run was refused; \?call=ID/));
});

test("a tool that nobody declared has the declared ones beside it, and no reduced form", async () => {
  const made = await caseOf([call("c1", "{}", "get_wether")]);
  assert.deepEqual([made.area, made.expect.error_kind], ["reinject", "unknown_tool"]);
  assert.deepEqual(made.expect.must_mention, ["get_wether", "get_weather"]);
  assert.deepEqual(
    made.tools.map((tool) => tool.function?.name),
    ["book", "get_weather", "now", "put"],
  );
  assert.ok(!("arguments_text" in made));
});

test("what a later gate refused is expected to be read, and the note says by which gate", async () => {
  const cities = ["x", "y"].map((city, at) => call(`c${at + 1}`, `{"city":"${city}"}`, "put"));
  const calls = [...cities, call("c4", '{"town":"x"}', "put")];
  assert.equal((await caseOf(calls)).id, "run1_1_3", "one refused for its text comes first");
  const made = await caseOf(cities);
  assert.deepEqual([made.expect.error_kind, made.expect.arguments], [null, { city: "y" }]);
  assert.match(made.expect.note, /context gate refused the call \(max_calls_per_run\)/);
});

test("a tool without parameters, and the language of the gateway, are as they were", async () => {
  const made = await caseOf([call("c1", '{"x":1}', "now")], undefined, "zh");
  assert.deepEqual(made.parameters, { type: "object", properties: {} });
  assert.match(made.what_happened, /\p{Script=Han}/u);
  assert.ok(made.expect.must_mention?.includes("x"), String(made.expect.must_mention));
});

test("there is no case of an unknown call, a client's call, or one whose text was cut", async () => {
  const long = call("c2", `{"city":"${"x".repeat(70_000)}`);
  await assert.rejects(caseOf([call("c1", "{}")], "nobody"), refusal(/^This run has no call "nobody"/));
  await assert.rejects(caseOf([call("c1", "{}"), askCall], "u1"), refusal(/one of the client's own tools/));
  await assert.rejects(caseOf([long]), refusal(/was not kept whole/));
});

test("a call that was read with the tool's normalisers is no case", async () => {
  const made = caseOf([call("c1", '{"city":"x","days":"三"}', "book")], "c1");
  await assert.rejects(made, refusal(/"c1" was read with the tool's normalisers/));
  assert.equal((await caseOf([call("c1", '{"city":"x","days":3}', "book")], "c1")).kind, "ok");
});
