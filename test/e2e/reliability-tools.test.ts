import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ask, stream } from "./support/client.ts";
import { registerTool, startGateway } from "./support/gateway.ts";
import { eventually, settled } from "./support/open-stream.ts";
import type { Turn } from "./support/scripted-server.ts";
import { json, toolServer } from "./support/tool-server.ts";
import { type ScriptedCall, scriptedUpstream, streamed } from "./support/upstream.ts";

const DONE = streamed({ text: "Done." });
const NO_PARAMETERS = { type: "object", properties: {} };

/** A model that makes these calls and then says "Done."; its tools take no arguments and answer as scripted. */
async function startWorld(
  t: TestContext,
  calls: readonly ScriptedCall[],
  scripts: Record<string, Turn>,
  members: Record<string, unknown> = {},
) {
  const upstream = await scriptedUpstream(t);
  const tools = await toolServer(t);
  const gateway = await startGateway(t, { upstream: upstream.baseUrl });
  for (const [name, turn] of Object.entries(scripts)) {
    tools.script(name, [turn]);
    const options = { url: tools.urlOf(name), parameters: NO_PARAMETERS, retry: 0, ...members };
    await registerTool(gateway, name, options);
  }
  upstream.script("m", [streamed({ calls }), DONE]);
  return { upstream, tools, gateway };
}

/** The tool messages at the end of the second request to the model. */
function results(upstream: Awaited<ReturnType<typeof scriptedUpstream>>): Map<string, string> {
  const { messages } = upstream.of("m")[1]?.body ?? { messages: [] };
  const tools = messages.filter(({ role }) => role === "tool");
  return new Map(tools.map(({ tool_call_id, content }) => [String(tool_call_id), content as string]));
}

suite("a tool that takes too long", { concurrency: true }, () => {
  for (const [what, turn] of [
    ["to answer", { ...json({}), wait: 5_000 }],
    ["to end its answer", { ...json({ half: "an answer" }), end: "hang" }],
  ] as const) {
    test(`${what} is left at its timeout, and the model is told`, async (t) => {
      const call = { id: "call_1", name: "slow_tool", args: {} };
      const world = await startWorld(t, [call], { slow_tool: turn }, { timeout_ms: 300, retry: 2 });
      const { upstream, tools, gateway } = world;
      const seen = await stream(gateway, ask("m"));
      assert.equal(seen.content, "Done.");
      assert.equal(seen.finish, "stop");
      const [request] = tools.of("slow_tool");
      const limit = Number(request?.at) + 300;
      await eventually("the tool is left", () => request?.leftAt !== undefined, 1_000);
      assert.ok(Number(request?.leftAt) - limit < 500, `left ${Number(request?.leftAt) - limit} ms late`);
      assert.ok(Number(upstream.of("m")[1]?.at) - limit < 1_000);
      assert.match(String(results(upstream).get("call_1")), /timed out/);
      assert.equal(tools.of("slow_tool").length, 1, "a timeout is not tried again");
      await settled(gateway);
      await sleep(300);
      assert.equal(upstream.of("m").length, 2, "nothing comes late");
    });
  }
});

suite("results of tools", { concurrency: true }, () => {
  test("answer every call, whatever became of it", async (t) => {
    const calls = ["ok", "boom", "gone"].map((name, index) => ({ id: `c${index + 1}`, name, args: {} }));
    const { upstream, gateway, tools } = await startWorld(t, calls, {
      ok: json({ r: "fine" }),
      boom: { status: 500, headers: { "content-type": "text/plain" }, body: ["oops"] },
    });
    const seen = await stream(gateway, ask("m"));
    assert.equal(seen.content, "Done.");
    const told = results(upstream);
    assert.deepEqual([...told.keys()], ["c1", "c2", "c3"]);
    assert.match(String(told.get("c1")), /fine/);
    assert.match(String(told.get("c2")), /500/);
    assert.match(String(told.get("c3")), /gone/);
    assert.equal(tools.requests.length, 2);
    const assistant = upstream.of("m")[1]?.body.messages.at(-4);
    assert.equal(assistant?.role, "assistant");
    assert.equal(assistant?.tool_calls?.length, 3);
  });

  for (const [what, turn] of [
    ["200 without a byte", { body: [] }],
    ["200 with spaces", { body: ["  \n"] }],
    ["204", { status: 204, body: [] }],
  ] as const) {
    test(`that are empty (${what}) are said to be`, async (t) => {
      const call = { id: "call_1", name: "get_now", args: {} };
      const { upstream, gateway } = await startWorld(t, [call], { get_now: turn });
      assert.equal((await stream(gateway, ask("m"))).content, "Done.");
      const told = JSON.parse(String(results(upstream).get("call_1"))) as Record<string, unknown>;
      assert.deepEqual(
        { success: told["success"], data: told["data"], error: told["error"] },
        { success: true, data: "(no output)", error: null },
      );
    });
  }

  for (const type of ["application/octet-stream", "text/plain", "image/png"]) {
    test(`that are no text (${type}) never reach the model`, async (t) => {
      const call = { id: "call_1", name: "get_now", args: {} };
      const bytes = Buffer.from("0001fffe80c0af00", "hex");
      const turn = { headers: { "content-type": type }, body: [bytes] };
      const { upstream, gateway } = await startWorld(t, [call], { get_now: turn });
      assert.equal((await stream(gateway, ask("m"))).content, "Done.");
      const sent = String(upstream.of("m")[1]?.text);
      const told = String(results(upstream).get("call_1"));
      assert.ok(told.isWellFormed() && told.length < 2_000);
      assert.match(told, /8 B/);
      assert.ok(told.includes(type));
      assert.doesNotMatch(sent, /\\u0000|\uFFFD/);
      assert.equal(typeof JSON.parse(sent), "object");
    });
  }
});
