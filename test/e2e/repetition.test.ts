import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ask, complete, send, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { type Reply, streamed, whole } from "./support/upstream.ts";
import { startWorld, type World } from "./support/world.ts";

const ORDERS: Reply = { calls: [{ name: "create_order", args: { place: "Oslo" } }] };
const SAYS: Reply = { text: "Ordered." };

async function shop(world: World): Promise<void> {
  await registerTool(world.gateway, "create_order", {
    url: world.tools.urlOf("create_order"),
    level: "write",
    confirm: "never",
  });
}

const key = (value: string) => ({ "idempotency-key": value });

test("a repeated request with the same key gets the first answer, and nothing is done twice", async (t) => {
  const world = await startWorld(t, []);
  await shop(world);
  world.upstream.script("m", [whole(ORDERS), whole(SAYS), whole({ text: "again?" })]);
  const first = await complete(world.gateway, ask("m"), key("order-1"));
  const again = await complete(world.gateway, ask("m"), key("order-1"));
  assert.deepEqual([again.status, again.body], [200, first.body]);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.equal(again.headers.get("x-toolweir-run-id"), first.headers.get("x-toolweir-run-id"));
  assert.deepEqual([world.upstream.of("m").length, world.tools.requests.length], [2, 1]);
  const other = await complete(world.gateway, ask("m", { temperature: 0 }), key("order-1"));
  assert.deepEqual([other.status, other.body.error.code], [422, "idempotency_key_reuse"]);
});

test("a stream is given again as the stream it was", async (t) => {
  const { upstream, gateway } = await startWorld(t, []);
  upstream.script("m", [streamed({ text: "One two three." })]);
  const first = await stream(gateway, ask("m"), key("s"));
  const again = await stream(gateway, ask("m"), key("s"));
  assert.deepEqual([again.content, again.chunks], ["One two three.", first.chunks]);
  assert.equal(upstream.of("m").length, 1);
});

test("the same key twenty times at once is one run", async (t) => {
  const { upstream, gateway } = await startWorld(t, []);
  upstream.script("m", [{ ...whole({ text: "Hi." }), wait: 200 }]);
  const all = Array.from({ length: 20 }, () => complete(gateway, ask("m"), key("many")));
  const answers = await Promise.all(all);
  const done = answers.filter(({ status }) => status === 200);
  const waiting = answers.filter(({ status }) => status === 409);
  assert.deepEqual([done.length + waiting.length, upstream.of("m").length], [20, 1]);
  assert.equal(waiting[0]?.body.error.code, "idempotency_in_progress");
  assert.equal(waiting[0]?.headers.get("retry-after"), "1");
  assert.equal(waiting[0]?.headers.get("x-should-retry"), "true");
});

test("a failure that changed nothing may be tried again under the same key", async (t) => {
  const { upstream, gateway } = await startWorld(t, []);
  upstream.script("m", [{ status: 400, body: ['{"error":{"message":"no"}}'] }, whole({ text: "Yes." })]);
  assert.equal((await complete(gateway, ask("m"), key("f"))).status, 400);
  assert.equal((await complete(gateway, ask("m"), key("f"))).status, 200);
});

test("a failure after a write is given again, and the order is placed once", async (t) => {
  const world = await startWorld(t, []);
  await shop(world);
  world.upstream.script("m", [whole(ORDERS), { status: 400, body: ['{"error":{"message":"no"}}'] }]);
  const first = await complete(world.gateway, ask("m"), key("w"));
  const again = await complete(world.gateway, ask("m"), key("w"));
  assert.deepEqual([again.status, again.body], [first.status, first.body]);
  assert.equal(again.headers.get("x-should-retry"), "false");
  assert.deepEqual([world.upstream.of("m").length, world.tools.requests.length], [2, 1]);
});

test("an SDK that lost the connection after a write gets no second order", async (t) => {
  const world = await startWorld(t, []);
  await shop(world);
  world.tools.script("create_order", [json({ id: 1 })]);
  world.upstream.script("m", [whole(ORDERS), { ...whole(SAYS), wait: 300 }]);
  const body = { ...ask("m"), stream: false };
  const cut = new AbortController();
  const lost = fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: cut.signal,
  });
  while (world.tools.requests.length === 0 || world.upstream.of("m").length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  cut.abort();
  await assert.rejects(lost);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const retry = { "x-stainless-retry-count": "1" };
  const again = await send(world.gateway, "/v1/chat/completions", body, retry);
  const { error } = JSON.parse(await again.text());
  assert.deepEqual([again.status, error.code], [500, "run_failed_after_write"]);
  assert.match(error.run_id, /^run_/);
  assert.equal(again.headers.get("x-should-retry"), "false");
  assert.equal(world.tools.requests.length, 1);
});

test("two requests that only look alike are two runs", async (t) => {
  const world = await startWorld(t, []);
  await shop(world);
  world.upstream.script("m", [whole(ORDERS), whole(SAYS), whole(ORDERS), whole(SAYS)]);
  await complete(world.gateway, ask("m"));
  await complete(world.gateway, ask("m"));
  assert.equal(world.tools.requests.length, 2);
});

test("the openai client's own retry attaches to the run that wrote", async (t) => {
  const world = await startWorld(t, []);
  await shop(world);
  world.upstream.script("m", [whole(ORDERS), whole(SAYS)]);
  let attempts = 0;
  const client = new OpenAI({
    apiKey: "none",
    baseURL: `${world.gateway.url}/v1`,
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (++attempts > 1) return response;
      await response.text();
      throw new TypeError("terminated");
    },
  });
  const answer = await client.chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "Order." }],
  });
  assert.equal(answer.choices[0]?.message.content, "Ordered.");
  assert.deepEqual([attempts, world.tools.requests.length], [2, 1]);
});
