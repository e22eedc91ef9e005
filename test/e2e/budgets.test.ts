import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ask, complete, send, stream } from "./support/client.ts";
import type { Gateway } from "./support/gateway.ts";
import { chunk, type Reply, sse, streamed, whole } from "./support/upstream.ts";
import { startWorld } from "./support/world.ts";

const KEYS = `
auth:
  mode: keys
  keys:
    - { name: one, key: key-one-0123456789, budget: { tokens_per_day: 300 } }
    - { name: two, key: key-two-0123456789 }
`;
const ENV = { TOOLWEIR_ADMIN_KEY: "admin-key-0123456789" };
const as = (key: string, session?: string) => ({
  authorization: `Bearer ${key}`,
  ...(session !== undefined && { "x-toolweir-session": session }),
});
const ONE = as("key-one-0123456789");
const TWO = as("key-two-0123456789");
const ADMIN = as("admin-key-0123456789");
const tokens = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});
const SAYS: Reply = { text: "Fine.", usage: tokens(60, 40) };
const CALLS = (place: string): Reply => ({
  calls: [{ name: "get_weather", args: { place } }],
  usage: tokens(60, 40),
});
/** Little enough to be reserved. */
const SHORT = { max_tokens: 40 };

const metric = async (gateway: Gateway, headers = {}) =>
  /toolweir_budget_refusals_total (\d+)/.exec(
    await (await fetch(`${gateway.url}/metrics`, { headers })).text(),
  )?.[1];

test("a key's budget refuses the request after the one that spent it, before anything is sent", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], { yaml: KEYS, env: ENV });
  upstream.script("m", [whole(SAYS)]);
  const left = [];
  for (let n = 0; n < 3; n++) {
    const { status, headers } = await complete(gateway, ask("m", SHORT), ONE);
    assert.equal(status, 200);
    assert.equal(headers.get("x-ratelimit-limit-tokens"), "300");
    assert.match(`${headers.get("x-ratelimit-reset-tokens")}`, /^(\d+h)?(\d+m)?\d+s$/);
    left.push(headers.get("x-ratelimit-remaining-tokens"));
  }
  assert.deepEqual(left, ["300", "200", "100"]);
  const { status, headers, body } = await complete(gateway, ask("m", SHORT), ONE);
  assert.deepEqual(
    [status, body.error.type, body.error.code],
    [429, "insufficient_quota", "insufficient_quota"],
  );
  assert.match(body.error.message, /budget of this key, 300 tokens a day, is spent.*more at 20\d\d-/);
  assert.equal(headers.get("x-should-retry"), "false");
  assert.equal(headers.get("x-ratelimit-remaining-tokens"), "0");
  assert.equal(headers.get("retry-after"), null);
  assert.equal(upstream.of("m").length, 3);
  assert.equal(await metric(gateway, ADMIN), "1");
  for (const other of [TWO, ADMIN]) assert.equal((await complete(gateway, ask("m"), other)).status, 200);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "key-one-0123456789" });
  const messages = [{ role: "user" as const, content: "hi" }];
  await assert.rejects(client.chat.completions.create({ model: "m", messages }), OpenAI.RateLimitError);
  assert.equal(upstream.of("m").length, 5, "the SDK has not tried again");
});

test("a run's budget gives the model a last round without tools", async (t) => {
  const { gateway, upstream, tools } = await startWorld(t, ["get_weather"], {
    yaml: "limits: { run_tokens: 200 }",
  });
  for (const play of ["streamed", "whole"] as const) {
    const turn = play === "whole" ? whole : streamed;
    upstream.script(play, [turn(CALLS("Paris")), turn(CALLS("Rome")), turn(SAYS)]);
    const got =
      play === "whole" ? (await complete(gateway, ask(play))).body : await stream(gateway, ask(play));
    const { run_id, stop_reason, rounds } = got.toolweir ?? got.summary;
    assert.deepEqual([stop_reason, rounds], ["budget", 3]);
    assert.equal(upstream.of(play)[2]?.body.tool_choice, "none");
    const { body } = await record(gateway, run_id);
    assert.deepEqual(body.budget, { tokens: 300, cost_micros: 0, spent: "run" });
  }
  assert.equal(tools.requests.length, 4);
});

async function record(gateway: Gateway, id: string, headers: Record<string, string> = {}) {
  const response = await send(gateway, `/runs/${id}`, undefined, headers, "GET");
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("for a stream the gateway asks for the usage itself, and keeps it from a client that did not", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], { yaml: "limits: { run_tokens: 1000 }" });
  upstream.script("m", [streamed(SAYS)]);
  const silent = await stream(gateway, ask("m", { stream_options: { include_obfuscation: false } }));
  assert.deepEqual(upstream.of("m")[0]?.body["stream_options"], {
    include_obfuscation: false,
    include_usage: true,
  });
  assert.ok(silent.chunks.every(({ usage, choices }) => !usage && choices.length > 0));
  const { body } = await record(gateway, String(silent.summary["run_id"]));
  assert.deepEqual(body["budget"], { tokens: 100, cost_micros: 0 });
  const asked = await stream(gateway, ask("m", { stream_options: { include_usage: true } }));
  assert.equal(asked.chunks.at(-1)?.usage?.["total_tokens"], 100);
  const plain = await stream(gateway, ask("m"));
  assert.deepEqual(upstream.of("m")[2]?.body["stream_options"], { include_usage: true });
  assert.equal(plain.content, "Fine.");
});

test("without a budget nothing is added to a request", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], {
    yaml: "prices: [{ match: '*', input_per_million: 1, output_per_million: 2 }]",
  });
  upstream.script("m", [streamed(SAYS)]);
  const seen = await stream(gateway, ask("m"));
  assert.equal(upstream.of("m")[0]?.body["stream_options"], undefined);
  assert.equal(seen.headers.get("x-ratelimit-limit-tokens"), null);
});

test("cost is counted by price, for runs and sessions, and bounds a session", async (t) => {
  const yaml = `${KEYS}
limits: { session_cost_micros: 1000 }
prices:
  - { match: "cheap*", input_per_million: 0.5, output_per_million: 1 }
  - { match: "*", input_per_million: 2.5, output_per_million: 10 }
`;
  const { gateway, upstream, tools } = await startWorld(t, [], { yaml, env: ENV });
  await send(
    gateway,
    "/tools/t",
    { description: "When asked", http: { method: "GET", url: tools.urlOf("t") }, level: "read" },
    ADMIN,
    "PUT",
  );
  for (const model of ["cheap-1", "dear"]) upstream.script(model, [whole(SAYS)]);
  const session = { ...TWO, "x-toolweir-session": "s1" };
  const cheap = await complete(gateway, ask("cheap-1", SHORT), session);
  const dear = await complete(gateway, ask("dear", SHORT), session);
  const costs = [];
  for (const { body } of [cheap, dear])
    costs.push((await record(gateway, body.toolweir.run_id, TWO)).body["budget"]);
  assert.deepEqual(costs, [
    { tokens: 100, cost_micros: 70 },
    { tokens: 100, cost_micros: 550 },
  ]);
  const again = await complete(gateway, ask("dear", SHORT), session);
  assert.equal(again.status, 200);
  const refused = await complete(gateway, ask("cheap-1", SHORT), session);
  assert.deepEqual([refused.status, refused.body.error.code], [429, "insufficient_quota"]);
  assert.match(refused.body.error.message, /budget of this session, 1000 millionths/);
  assert.equal(
    (await complete(gateway, ask("dear", SHORT), { ...TWO, "x-toolweir-session": "s2" })).status,
    200,
  );
  const kept = await send(gateway, "/sessions/s1", undefined, TWO, "GET");
  const { counters } = (await kept.json()) as { counters: Record<string, number> };
  assert.deepEqual([counters["tokens"], counters["cost_micros"]], [300, 1170]);
});

test("requests at the same time do not go beyond a budget together", async (t) => {
  const yaml = KEYS.replace("tokens_per_day: 300", "tokens_per_day: 1000");
  const { gateway, upstream } = await startWorld(t, [], { yaml, env: ENV });
  upstream.script("m", [{ ...whole(SAYS), wait: 150 }]);
  const body = ask("m", { max_tokens: 90 });
  const all = await Promise.all(Array.from({ length: 50 }, () => complete(gateway, body, ONE)));
  const [good, busy] = [200, 429].map((code) => all.filter(({ status }) => status === code));
  assert.equal((good?.length ?? 0) + (busy?.length ?? 0), 50);
  assert.ok(good && good.length > 0 && good.length <= 10, `${good?.length}`);
  for (const { headers, body: told } of busy ?? []) {
    assert.equal(told.error.code, "insufficient_quota");
    assert.deepEqual([headers.get("retry-after"), headers.get("x-should-retry")], ["1", "true"]);
  }
  for (let status = 200; status === 200; ) ({ status } = await complete(gateway, body, ONE));
  assert.equal(upstream.of("m").length, 10);
});

test("a stream whose usage nobody tells counts with what was reserved", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], { yaml: KEYS, env: ENV });
  upstream.script("m", [streamed({ text: "Fine." })]);
  const seen = await stream(gateway, ask("m", { max_tokens: 290 }), ONE);
  const { body } = await record(gateway, String(seen.summary["run_id"]), ONE);
  const { tokens: counted, estimated_rounds } = body["budget"] as Record<string, number>;
  assert.ok((counted ?? 0) > 290 && (counted ?? 0) < 400, `${counted}`);
  assert.equal(estimated_rounds, 1);
  assert.equal((await complete(gateway, ask("m"), ONE)).status, 429);
});

test("a stream that the client leaves counts with what was reserved", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], { yaml: KEYS, env: ENV });
  upstream.script("m", [{ ...sse(chunk({ role: "assistant", content: "Fine." })), end: "hang" }]);
  const leave = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...ONE },
    body: JSON.stringify(ask("m", { max_tokens: 290 })),
    signal: leave.signal,
  });
  await response.body?.getReader().read();
  leave.abort();
  await gateway.app.engine.idle();
  const { status, body } = await complete(gateway, ask("m"), ONE);
  assert.equal(status, 429);
  assert.match(body.error.message, /is spent/);
});
