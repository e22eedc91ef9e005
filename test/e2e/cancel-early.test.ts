import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { chunk, sse, streamed } from "./support/upstream.ts";
import { ANSWERS, startWorld } from "./support/world.ts";

const HEAD = { index: 0, id: "c1", type: "function" };
const said = (text: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });

test("with cancel_early a hopeless call ends its round at once; the model server feels it, the model is told", async (t) => {
  const world = await startWorld(t, [], { yaml: "cancel_early: true" });
  const parameters = { type: "object", properties: { days: { type: "integer" }, note: { type: "string" } } };
  await registerTool(world.gateway, "plan", { url: world.tools.urlOf("plan"), parameters });
  const begun = chunk({ tool_calls: [{ ...HEAD, function: { name: "plan", arguments: '{"days":"fe' } }] });
  const hangs = { ...sse(begun, said('w","note":"')), end: "hang" as const };
  world.upstream.script("m", [hangs, streamed(ANSWERS)]);
  const before = performance.now();
  const seen = await stream(world.gateway, ask("m"), { "x-toolweir-events": "1" });
  assert.ok(performance.now() - before < 2_000);
  assert.equal(seen.content, "It is sunny.");
  const [first, second] = world.upstream.of("m");
  assert.ok(first?.leftAt !== undefined);
  assert.match(String(second?.body.messages.at(-1)?.content), /\\"days\\" must be an integer/);
  assert.deepEqual(
    seen.progress.map(({ type, path, problem }) => [type, path, problem]),
    [
      ["tool.args", "days", "type"],
      ["tool.rejected", undefined, "type"],
    ],
  );
  assert.equal(world.tools.requests.length, 0);
  const run = await fetch(`${world.gateway.url}/runs/${seen.headers.get("x-toolweir-run-id")}`);
  const { rounds } = (await run.json()) as {
    rounds: { finish_reason: string; calls: { hopeless?: { after: number } }[] }[];
  };
  assert.deepEqual(
    rounds.map(({ finish_reason, calls }) => [finish_reason, calls[0]?.hopeless?.after]),
    [
      ["stopped", 22],
      ["stop", undefined],
    ],
  );
});
