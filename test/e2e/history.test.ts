import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ask, complete } from "./support/client.ts";
import { json } from "./support/tool-server.ts";
import { type UpstreamBody, whole } from "./support/upstream.ts";
import { ANSWERS, clientTool, startWorld } from "./support/world.ts";

const results = ({ messages }: UpstreamBody) =>
  messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
const isNote = (content: string) => content.includes("was left out to keep the conversation short");

const call = (at: number) => ({
  id: `c${at}`,
  type: "function",
  function: { name: "look", arguments: `{"n":${at}}` },
});
const turn = (at: number) => [
  { role: "user", content: `Question ${at}` },
  { role: "assistant", content: null, tool_calls: [call(at)] },
  { role: "tool", tool_call_id: `c${at}`, content: `result ${at} `.repeat(100) },
];

test("old results of a client's conversation are left out above the budget, and only there", async (t) => {
  const { upstream, gateway } = await startWorld(t, [], { yaml: "history: { max_bytes: 5000 }" });
  upstream.script("m", [whole(ANSWERS)]);
  const messages = [0, 1, 2, 3, 4, 5].flatMap(turn);
  const tools = [clientTool("look")];
  const { body } = await complete(gateway, ask("m", { stream: false, messages, tools }));
  const sent = upstream.requests[0]?.body as UpstreamBody;
  assert.deepEqual(results(sent).map(isNote), [true, true, true, false, false, false]);
  assert.deepEqual(
    sent.messages.filter(({ role }) => role !== "tool"),
    messages.filter(({ role }) => role !== "tool"),
  );
  const record = JSON.parse(await (await fetch(`${gateway.url}/runs/${body.toolweir.run_id}`)).text());
  assert.equal(record.history.results, 3);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /toolweir_history_results_left_out_total 3/);

  await complete(gateway, ask("m", { stream: false, messages: messages.slice(0, 6), tools }));
  assert.deepEqual(upstream.requests[1]?.body.messages, messages.slice(0, 6));
});

test("within a run the newest results stay, and calls keep their results", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, ["get_weather"], {
    yaml: "history: { max_bytes: 8000 }",
  });
  tools.script("get_weather", [json({ text: "sunny ".repeat(300) })]);
  const places = ["Paris", "Oslo", "Rome", "Bern", "Riga", "Kyiv"];
  const calls = places.map((place) =>
    whole({ calls: [{ id: place, name: "get_weather", args: { place } }] }),
  );
  upstream.script("m", [...calls, whole(ANSWERS)]);
  await complete(gateway, ask("m", { stream: false }));
  const last = upstream.requests.at(-1)?.body as UpstreamBody;
  const notes = results(last).map(isNote);
  assert.equal(notes.length, 6);
  assert.ok(notes[0] && !notes.at(-1));
  assert.deepEqual(JSON.parse(results(last)[0] ?? "").tool_name, "get_weather");
  for (const { body } of upstream.requests) assert.ok(JSON.stringify(body.messages).length < 12_000);
});

test("0 leaves everything in", async (t) => {
  const { upstream, gateway } = await startWorld(t, [], { yaml: "history: { max_bytes: 0 }" });
  upstream.script("m", [whole(ANSWERS)]);
  const messages = Array.from({ length: 600 }, (_, at) => turn(at)).flat();
  await complete(gateway, ask("m", { stream: false, messages, tools: [clientTool("look")] }));
  assert.ok(isDeepStrictEqual(upstream.requests[0]?.body.messages, messages));
});
