import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, stream } from "./support/client.ts";
import { json } from "./support/tool-server.ts";
import { type Reply, streamed } from "./support/upstream.ts";
import { startWorld } from "./support/world.ts";

const calls = (name: string): Reply => ({ calls: [{ name, args: { place: "Paris" } }] });
const GIVES_UP: Reply = { text: "I cannot find it." };

test("a model that goes back and forth between two calls is told so, and then stopped", async (t) => {
  for (const isFailing of [false, true]) {
    const { gateway, upstream, tools } = await startWorld(t, ["one", "two"]);
    if (isFailing)
      for (const name of ["one", "two"]) tools.script(name, [json({ error: "No such place." }, 404)]);
    const turns = Array.from({ length: 8 }, (_, at) => streamed(calls(at % 2 ? "two" : "one")));
    const rounds = isFailing ? 8 : 5;
    upstream.script("m", [...turns.slice(0, rounds), streamed(GIVES_UP)]);
    const seen = await stream(gateway, ask("m"), { "x-toolweir-events": "1" });
    assert.deepEqual([seen.finish, seen.content], ["stop", GIVES_UP.text]);
    assert.deepEqual([seen.summary["stop_reason"], seen.summary["rounds"]], ["loop_guard", rounds + 1]);
    assert.equal(tools.requests.length, isFailing ? rounds : 2);
    assert.equal(upstream.of("m").at(-1)?.body.tool_choice, "none");
    assert.ok(seen.progress.some(({ type }) => type === "loop.guard"));
    const told = upstream
      .of("m")
      .map(({ body }) => /made the same tool call again/.test(`${body.messages[0]?.content}`));
    assert.deepEqual(told, [...Array.from({ length: told.length }, (_, at) => at >= (isFailing ? 4 : 3))]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assert.match(
      metrics,
      isFailing ? /loop_guards_total\{kind="cycle"\} 1/ : /loop_guards_total\{kind="call"\} 3/,
    );
  }
});
