import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete } from "./support/client.ts";
import { whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, clientTool, startWorld, usage } from "./support/world.ts";

test("an unstreamed answer tells the same facts as a stream", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  upstream.script("alias", [whole(ASKS), whole(ANSWERS)]);
  const { status, headers, body } = await complete(gateway, ask("alias"));
  assert.equal(status, 200);
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.equal(body.object, "chat.completion");
  assert.equal(body.model, "alias");
  assert.deepEqual(body.usage, usage(11));
  assert.deepEqual(body.choices, [
    {
      index: 0,
      message: { role: "assistant", content: "Let me look. It is sunny." },
      finish_reason: "stop",
    },
  ]);
  assert.equal(body.toolweir.run_id, headers.get("x-toolweir-run-id"));
  assert.equal(body.toolweir.session_id, headers.get("x-toolweir-session"));
  assert.equal(body.toolweir.stop_reason, "completed");
  assert.equal(body.toolweir.rounds, 2);
  assert.deepEqual(body.toolweir.usage_by_round, [usage(10), usage(1)]);
  assert.deepEqual(
    body.toolweir.tools.map(({ name, ok }: { name: string; ok: boolean }) => [name, ok]),
    [["get_weather", true]],
  );
  assert.equal(tools.requests.length, 1);
});

test("strict leaves the member out, and an answer without text says null", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  upstream.script("m", [whole({ calls: [{ name: "mine", args: {} }] })]);
  const request = ask("m", { tools: [clientTool("mine")] });
  const { body } = await complete(gateway, request, { "x-toolweir-compat": "strict" });
  assert.ok(!("toolweir" in body));
  assert.deepEqual(body.choices, [
    {
      index: 0,
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_mine_0", type: "function", function: { name: "mine", arguments: "{}" } }],
      },
      finish_reason: "tool_calls",
    },
  ]);
});

test("members of the provider's body survive", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  const message = { role: "assistant", content: "Yes.", reasoning_content: "Hm.", annotations: [{ a: 1 }] };
  const choice = { index: 0, message, finish_reason: "stop", logprobs: { content: [] } };
  const reply = { id: "x", created: 5, model: "other", choices: [choice], system_fingerprint: "fp" };
  upstream.script("m", [{ body: [JSON.stringify(reply)] }]);
  const { body } = await complete(gateway, ask("m"));
  assert.equal(body.system_fingerprint, "fp");
  assert.deepEqual(body.choices, [choice]);
  assert.equal(body.id, "x");
  assert.equal(body.created, 5);
});

test("members that say nothing stay as they came, beside text, beside calls and after a round of the gateway", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  const silent = { refusal: null, annotations: [], audio: null };
  const reply = (message: object, finish_reason: string) => ({
    body: [JSON.stringify({ id: "x", choices: [{ index: 0, message, finish_reason }] })],
  });
  const calling = (name: string, args: string) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name, arguments: args } }],
    ...silent,
  });
  const answer = { role: "assistant", content: "Yes.", ...silent };
  const request = ask("m", { tools: [clientTool("mine")] });
  upstream.script("m", [reply(answer, "stop")]);
  assert.deepEqual((await complete(gateway, request)).body.choices[0].message, answer);
  upstream.script("m", [reply(calling("mine", "{}"), "tool_calls")]);
  assert.deepEqual((await complete(gateway, request)).body.choices[0].message, calling("mine", "{}"));
  upstream.script("m", [
    reply(calling("get_weather", '{"place":"Paris"}'), "tool_calls"),
    reply(answer, "stop"),
  ]);
  assert.deepEqual((await complete(gateway, request)).body.choices[0].message, answer);
});
