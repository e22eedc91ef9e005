/** What clients see while a server behind the gateway keeps failing, and when it is well again. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI, { APIError } from "openai";
import { ask, complete } from "./support/client.ts";
import { type Gateway, registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { type ScriptedCall, whole } from "./support/upstream.ts";
import { ANSWERS, startWorld, type World } from "./support/world.ts";

const FAILS = json({ error: { message: "down" } }, 503);

/** One conversation in which the model makes these calls: what each of them came to. */
async function converse({ upstream, gateway }: World, model: string, calls: readonly ScriptedCall[]) {
  upstream.script(model, [whole({ calls }), whole(ANSWERS)]);
  const { status, body } = await complete(gateway, ask(model));
  assert.equal(status, 200, JSON.stringify(body));
  return body.toolweir.tools as { name: string; ok: boolean; attempts: number }[];
}

/** What the model was told in the second request of a conversation. */
function told({ upstream }: World, model: string): string[] {
  const { messages } = upstream.of(model)[1]?.body ?? { messages: [] };
  return messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
}

const metricsOf = async (gateway: Gateway) => (await fetch(`${gateway.url}/metrics`)).text();

suite("a tool that keeps failing", { concurrency: true }, () => {
  test("is not asked by 200 clients more than 1.2 times as often as they call it", async (t) => {
    const world = await startWorld(t, []);
    const { tools, gateway } = world;
    await registerTool(gateway, "down", { url: tools.urlOf("down"), retry: 2, backoff_ms: 20 });
    tools.script("down", [{ ...FAILS, wait: 100 }]);
    const runs = Array.from({ length: 200 }, (_, n) =>
      converse(world, `m${n}`, [{ name: "down", args: { place: `${n}` } }]),
    );
    const results = await Promise.all(runs);
    assert.ok(results.every(([call]) => call?.ok === false));
    assert.ok(tools.requests.length <= 240, `${tools.requests.length}`);
  });

  test("leaves others as they are, is shown in the metrics, and comes back", async (t) => {
    const world = await startWorld(t, ["good"]);
    const { tools, gateway } = world;
    await registerTool(gateway, "flaps", { url: tools.urlOf("flaps"), retry: 0 });
    tools.script(
      "flaps",
      Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? FAILS : json({}))),
    );
    for (let n = 0; n < 50; n++) {
      const args = { place: `${n}` };
      const [, good] = await converse(world, `m${n}`, [
        { name: "flaps", args },
        { name: "good", args },
      ]);
      assert.deepEqual([good?.ok, good?.attempts], [true, 1]);
    }
    const asked = tools.of("flaps").length;
    assert.ok(asked >= 20 && asked < 25, `${asked}`);
    assert.match(told(world, "m49")[0] ?? "", /was not asked.*Do not call it again now/);
    assert.match(await metricsOf(gateway), /toolweir_breaker_open\{tool="flaps"\} 1/);
    tools.script("flaps", [json({ fine: true })]);
    await sleep(1_100);
    const [flaps] = await converse(world, "later", [{ name: "flaps", args: { place: "x" } }]);
    assert.deepEqual([flaps?.ok, flaps?.attempts], [true, 1]);
    assert.doesNotMatch(await metricsOf(gateway), /toolweir_breaker_open\{/);
  });

  test("is replaced by its fallback at once", async (t) => {
    const world = await startWorld(t, ["backup"]);
    const { tools, gateway } = world;
    await registerTool(gateway, "down", {
      url: tools.urlOf("down"),
      retry: 0,
      fallback: { tool: "backup" },
    });
    tools.script("down", [FAILS]);
    for (let n = 0; n < 22; n++) {
      const [call] = await converse(world, `m${n}`, [{ name: "down", args: { place: `${n}` } }]);
      assert.equal(call?.ok, true);
    }
    assert.equal(tools.of("down").length, 20);
    assert.equal(tools.of("backup").length, 22);
  });
});

test("a cached tool gives a later success and never an earlier failure", async (t) => {
  const world = await startWorld(t, []);
  const { tools, gateway } = world;
  await registerTool(gateway, "get", { url: tools.urlOf("get"), retry: 0, cache_ttl_s: 60 });
  tools.script("get", [json({}, 500), json({ n: 1 })]);
  const seen = [];
  for (const model of ["a", "b", "c"]) {
    const [call] = await converse(world, model, [{ name: "get", args: { place: "Oslo" } }]);
    seen.push([call?.ok, call?.attempts]);
  }
  assert.deepEqual(seen, [
    [false, 1],
    [true, 1],
    [true, 0],
  ]);
});

test("an upstream that keeps failing: the official client is told at once when to come back, and then served", async (t) => {
  const yaml = "upstreams: [{ name: main, retry: 0 }]";
  const { upstream, gateway } = await startWorld(t, [], { yaml });
  upstream.script("m", [FAILS]);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "unused", maxRetries: 0 });
  const chat = (options = {}) =>
    client.chat.completions
      .create({ model: "m", messages: [{ role: "user", content: "Go." }] }, options)
      .then(
        ({ choices }) => choices[0]?.message.content,
        (error: unknown) => error,
      );
  for (let n = 0; n < 20; n++) assert.ok((await chat()) instanceof APIError);
  const from = performance.now();
  const refused = (await chat()) as InstanceType<typeof APIError>;
  assert.ok(performance.now() - from < 500);
  assert.deepEqual([refused.status, refused.code], [503, "upstream_unavailable"]);
  assert.match(String(refused.headers?.get("retry-after")), /^[123]$/);
  assert.equal(upstream.of("m").length, 20);
  assert.match(await metricsOf(gateway), /toolweir_upstream_breaker_open\{upstream="main"\} 1/);
  upstream.script("m", [whole({ text: "Fine." })]);
  assert.equal(await chat({ maxRetries: 2 }), "Fine.");
  assert.equal(await chat(), "Fine.");
});
