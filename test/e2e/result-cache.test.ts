import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

test("a cached result, switched off by a header, counted in the metrics", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather"), cache_ttl_s: 60 });
  upstream.script("m", [
    whole(ASKS),
    whole(ANSWERS),
    whole(ASKS),
    whole(ANSWERS),
    whole(ASKS),
    whole(ANSWERS),
  ]);
  await complete(gateway, ask("m"));
  const again = await complete(gateway, ask("m"));
  assert.equal(again.body.toolweir.tools[0].cached, true);
  assert.equal(tools.requests.length, 1);
  await complete(gateway, ask("m"), { "x-toolweir-cache": "off" });
  assert.equal(tools.requests.length, 2);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /toolweir_shared_results_total\{tool="get_weather",from="cache"\} 1/);
  const bad = await complete(gateway, ask("m"), { "x-toolweir-cache": "no" });
  assert.deepEqual([bad.status, bad.body.error.param], [400, "x-toolweir-cache"]);
});

test("a tool that keeps failing is left alone, and the others are not", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  await registerTool(gateway, "flaky", { url: tools.urlOf("flaky"), retry: 0 });
  tools.script("flaky", [json({ error: "down" }, 503)]);
  const calls = Array.from({ length: 8 }, (_, n) => ({ name: "flaky", args: { place: `${n}` } }));
  for (let n = 0; n < 4; n++) {
    upstream.script(`m${n}`, [
      whole({ calls: [...calls, { name: "get_weather", args: { place: `${n}` } }] }),
      whole(ANSWERS),
    ]);
    await stream(gateway, ask(`m${n}`, { stream: true })).catch(() => {});
    await complete(gateway, ask(`m${n}`));
  }
  assert.ok(tools.of("flaky").length >= 20 && tools.of("flaky").length < 30, `${tools.of("flaky").length}`);
  assert.ok(tools.of("get_weather").length >= 4);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /toolweir_breaker_opened_total\{tool="flaky"\} 1/);
});
