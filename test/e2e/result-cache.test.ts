import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ask, complete, stream } from "./support/client.ts";
import { type Gateway, registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { streamed, whole } from "./support/upstream.ts";
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

/** Streamed conversations of the official client: the text, and the tools of the summary. */
function streaming(gateway: Gateway, user: string, headers: Record<string, string> = {}) {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "unused", defaultHeaders: headers });
  const messages = [{ role: "user" as const, content: "How warm is it?" }];
  return async (model: string) => {
    const summary: { cached: boolean; ok: boolean }[] = [];
    let text = "";
    const parts = await client.chat.completions.create({ model, messages, user, stream: true });
    for await (const part of parts) {
      text += part.choices[0]?.delta.content ?? "";
      const { toolweir } = part as { toolweir?: { tools?: { cached: boolean; ok: boolean }[] } };
      summary.push(...(toolweir?.tools ?? []));
    }
    return { text, summary };
  };
}

const READS = streamed(ASKS);
const SAYS = streamed(ANSWERS);

test("streams of the same user at the same time are one request to the tool, those of another user are another", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  tools.script("get_weather", [{ ...json({ celsius: 21 }), wait: 1_500 }]);
  const names = Array.from({ length: 20 }, (_, n) => `m${n}`);
  for (const name of names) upstream.script(name, [READS, SAYS]);
  const anna = streaming(gateway, "anna");
  const bert = streaming(gateway, "bert");
  const seen = await Promise.all(names.map((name, n) => (n % 2 === 0 ? anna(name) : bert(name))));
  for (const { text, summary } of seen) {
    assert.equal(text, "Let me look. It is sunny.");
    assert.equal(summary[0]?.ok, true);
  }
  const users = tools.requests.map(({ headers }) => headers["x-toolweir-user"]);
  assert.deepEqual(users.sort(), ["anna", "bert"]);
});

test("a conversation that has changed something reads anew what is cached", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather"), cache_ttl_s: 60 });
  await registerTool(gateway, "move", { url: tools.urlOf("move"), level: "write", confirm: "never" });
  tools.script("get_weather", [json({ place: "Rome" }), json({ place: "Oslo" })]);
  const anna = streaming(gateway, "anna");
  upstream.script("a", [READS, SAYS]);
  await anna("a");
  const MOVES = streamed({ calls: [{ name: "move", args: { place: "Oslo" } }] });
  upstream.script("b", [READS, MOVES, READS, SAYS]);
  const { summary } = await anna("b");
  assert.deepEqual(
    summary.map(({ cached }) => cached),
    [true, false, false],
  );
  assert.match(JSON.stringify(upstream.of("b")[3]?.body.messages.at(-1)?.["content"]), /Oslo/);
  upstream.script("c", [READS, SAYS]);
  assert.equal((await anna("c")).summary[0]?.cached, true);
  assert.match(JSON.stringify(upstream.of("c")[1]?.body.messages.at(-1)?.["content"]), /Oslo/);
});
