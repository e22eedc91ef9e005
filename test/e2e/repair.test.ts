import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, send, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { metric } from "./support/open-stream.ts";
import { json } from "./support/tool-server.ts";
import { streamed } from "./support/upstream.ts";
import { ANSWERS, startWorld } from "./support/world.ts";

const BROKEN = "Here is the call:\n```json\n{'place': \"Paris\", // the capital\n}\n```";
const calling = (name: string, args: string) => streamed({ calls: [{ name, args }] });

interface Recorded {
  rounds: {
    calls: {
      raw: string;
      outcome: string;
      gates: { gate: string; pass: boolean; problem?: string; repairs?: string[]; approval?: string }[];
    }[];
  }[];
}

async function callsOf(gateway: { url: string }, summary: Record<string, unknown>) {
  const response = await send(gateway, `/runs/${summary["run_id"]}`, undefined, {}, "GET");
  return ((await response.json()) as Recorded).rounds.flatMap(({ calls }) => calls);
}

async function recordOf(gateway: { url: string }, summary: Record<string, unknown>) {
  const [call] = await callsOf(gateway, summary);
  assert.ok(call);
  return call;
}

test("a read call with broken arguments of one reading runs with them, and every place says that it was repaired", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  tools.script("get_weather", [json({ sun: true })]);
  upstream.script("m", [calling("get_weather", BROKEN), streamed(ANSWERS)]);
  const { content, finish, summary } = await stream(gateway, ask("m"));
  assert.deepEqual([content, finish], ["It is sunny.", "stop"]);
  assert.deepEqual(
    tools.of("get_weather").map(({ body }) => body),
    [{ place: "Paris" }],
  );
  const call = await recordOf(gateway, summary);
  assert.deepEqual([call.raw, call.outcome], [BROKEN, "ok"]);
  const repairs = ["code_fence", "surrounding_text", "single_quotes", "comment", "trailing_comma"];
  assert.deepEqual(call.gates[0], { gate: "syntax", pass: true, repairs });
  for (const kind of repairs) {
    assert.equal(await metric(gateway, `toolweir_repairs_total{tool="get_weather",kind="${kind}"}`), 1, kind);
  }
  const [, second] = upstream.of("m");
  const [history] = (second?.body.messages ?? []).flatMap(({ tool_calls }) => tool_calls ?? []);
  const { arguments: sent } = (history as { function: { arguments: string } }).function;
  assert.deepEqual(JSON.parse(sent), { place: "Paris" }, "the model server gets JSON back");
});

test("a write call with broken arguments waits for a person, even where writes need no approval; JSON runs", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  const write = { level: "write", confirm: "never" };
  await registerTool(gateway, "set_place", { url: tools.urlOf("set_place"), ...write });
  tools.script("set_place", [json({ done: true })]);
  upstream.script("m", [
    calling("set_place", '{"place":"Paris"}'),
    calling("set_place", '{"place":"Oslo",}'),
  ]);
  const { summary } = await stream(gateway, ask("m"));
  assert.equal(tools.of("set_place").length, 1, "only the first call ran");
  assert.equal(summary["stop_reason"], "approval_required");
  const [first, second] = await callsOf(gateway, summary);
  assert.deepEqual([first?.outcome, second?.outcome], ["ok", "pending"]);
  assert.deepEqual(second?.gates[0]?.repairs, ["trailing_comma"]);
  assert.equal(second?.gates.at(-1)?.approval, "repaired");
});

test("arguments in a reply's text are repaired under the same rules", async (t) => {
  const yaml = 'models: [{ match: "*", protocol: hermes }]';
  const text = (name: string) =>
    `<tool_call>{"name": "${name}", "arguments": {"place": "Pa\nris"}}</tool_call>`;
  const saying = (name: string) => streamed({ text: text(name) });
  for (const off of [false, true]) {
    const { upstream, tools, gateway } = await startWorld(t, ["get_weather"], {
      yaml: off ? `${yaml}\nrepair: off` : yaml,
    });
    const write = { level: "write", confirm: "never" };
    await registerTool(gateway, "set_place", { url: tools.urlOf("set_place"), ...write });
    tools.script("get_weather", [json({ sun: true })]);
    upstream.script("m", [saying("get_weather"), saying("set_place"), streamed(ANSWERS)]);
    const { summary } = await stream(gateway, ask("m"));
    const [read, set] = await callsOf(gateway, summary);
    assert.equal(tools.of("set_place").length, 0);
    assert.equal(tools.of("get_weather").length, off ? 0 : 1);
    if (off) assert.match(String(upstream.of("m")[1]?.body.messages.at(-1)?.content), /not valid JSON/);
    else {
      assert.deepEqual(read?.gates[0]?.repairs, ["raw_control_character"]);
      assert.deepEqual([set?.outcome, set?.gates.at(-1)?.approval], ["pending", "repaired"]);
    }
  }
});

test("with repair: off broken arguments are explained to the model", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, ["get_weather"], { yaml: "repair: off" });
  upstream.script("m", [calling("get_weather", '{"place":"Paris",}'), streamed(ANSWERS)]);
  const { summary } = await stream(gateway, ask("m"));
  assert.equal(tools.requests.length, 0);
  assert.match(String(upstream.of("m")[1]?.body.messages.at(-1)?.content), /not valid JSON/);
  assert.deepEqual((await recordOf(gateway, summary)).gates.at(-1)?.gate, "syntax");
  const body = { arguments: "{place: 'Paris'}", dry_run: true };
  const invoked = await (await send(gateway, "/tools/get_weather/invoke", body)).json();
  assert.equal((invoked as { gates: { pass: boolean }[] }).gates[0]?.pass, false);
});

test("a call that was cut off is not repaired, whatever else is wrong with it", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  upstream.script("m", [calling("get_weather", "{'place': 'Paris'"), streamed(ANSWERS)]);
  await stream(gateway, ask("m"));
  assert.equal(tools.requests.length, 0);
  assert.match(String(upstream.of("m")[1]?.body.messages.at(-1)?.content), /not valid JSON/);
});
