import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ask, complete, stream } from "./support/client.ts";
import { type Gateway, registerTool } from "./support/gateway.ts";
import { whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

const yaml = (limits: string) => `
limits: ${limits}
auth:
  mode: keys
  keys:
    - { name: one, key: key-one-0123456789, rate: { per_minute: 3 } }
    - { name: two, key: key-two-0123456789 }
`;
const ENV = { TOOLWEIR_ADMIN_KEY: "admin-key-0123456789" };
const ADMIN = { authorization: "Bearer admin-key-0123456789" };
const as = (key: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more });
const ONE = as("key-one-0123456789");
const TWO = as("key-two-0123456789");

const refusals = async (gateway: Gateway, by: string) => {
  const text = await (await fetch(`${gateway.url}/metrics`, { headers: ADMIN })).text();
  return Number(new RegExp(`toolweir_requests_refused_total\\{by="${by}"\\} (\\d+)`).exec(text)?.[1]);
};

test("a key's rate counts every /v1 request, and says how much is left", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], { yaml: yaml("{}"), env: ENV });
  upstream.script("m", [whole(ANSWERS)]);
  const left = [];
  for (const answer of [
    await complete(gateway, ask("m"), ONE),
    await stream(gateway, ask("m"), ONE),
    await fetch(`${gateway.url}/v1/models`, { headers: ONE }),
  ]) {
    assert.equal(answer.headers.get("x-ratelimit-limit-requests"), "3");
    left.push(answer.headers.get("x-ratelimit-remaining-requests"));
  }
  assert.deepEqual(left, ["2", "1", "0"]);
  const sent = upstream.requests.length;
  const { status, headers, body } = await complete(gateway, ask("m"), ONE);
  assert.deepEqual(
    [status, body.error.type, body.error.code],
    [429, "rate_limit_error", "rate_limit_exceeded"],
  );
  assert.match(
    body.error.message,
    /^Rate limit reached for this key: 3 requests per minute\. Try again in \d+ s\.$/,
  );
  assert.ok(Number(headers.get("retry-after")) >= 1 && Number(headers.get("retry-after")) <= 60);
  assert.equal(headers.get("x-should-retry"), "true");
  assert.match(headers.get("x-ratelimit-reset-requests") ?? "", /^(1m0s|\d+s)$/);
  assert.match(headers.get("x-toolweir-run-id") ?? "", /^run_/);
  assert.equal(upstream.requests.length, sent, "nothing is sent for what is refused");
  assert.equal((await complete(gateway, ask("m"), TWO)).status, 200, "another key has its own rate");
  assert.equal((await complete(gateway, ask("m"), ADMIN)).status, 200, "the admin key has none");
  assert.equal(await refusals(gateway, "rate"), 1);
});

test("of many at once exactly as many are admitted as may be", async (t) => {
  const limits = "{ key_rate: { per_minute: 10 } }";
  const { gateway, upstream } = await startWorld(t, [], { yaml: yaml(limits), env: ENV });
  upstream.script("m", [whole(ANSWERS)]);
  const answers = await Promise.all(Array.from({ length: 100 }, () => complete(gateway, ask("m"), TWO)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  assert.equal(answers.filter(({ status }) => status === 429).length, 90);
});

test("users and sessions have their own, and what is refused for one does not count for the other", async (t) => {
  const limits = "{ user_rate: { per_minute: 2 }, session_rate: { per_minute: 1 } }";
  const { gateway, upstream } = await startWorld(t, [], { yaml: yaml(limits), env: ENV });
  upstream.script("m", [whole(ANSWERS)]);
  const status = async (user: string, session?: string) => {
    const headers = as("key-two-0123456789", session === undefined ? {} : { "x-toolweir-session": session });
    const answer = await complete(gateway, ask("m", { user }), headers);
    return answer.status === 200 ? 200 : answer.body.error.message.split(":")[0];
  };
  assert.equal(await status("ann", "s1"), 200);
  assert.equal(await status("ann", "s1"), "Rate limit reached for this session");
  assert.equal(await status("ann", "s2"), 200, "the refused request did not count for the user");
  assert.equal(await status("ann", "s3"), "Rate limit reached for this user");
  assert.equal(await status("bob", "s3"), 200);
});

test("tokens count when a run has ended, estimated where nobody says them", async (t) => {
  const limits = "{ key_rate: { tokens_per_minute: 100 } }";
  const { gateway, upstream } = await startWorld(t, [], { yaml: yaml(limits), env: ENV });
  upstream.script("m", [
    whole({ text: "Hi.", usage: { prompt_tokens: 90, completion_tokens: 30, total_tokens: 120 } }),
  ]);
  const first = await complete(gateway, ask("m"), TWO);
  assert.deepEqual([first.status, first.headers.get("x-ratelimit-remaining-tokens")], [200, "100"]);
  const second = await complete(gateway, ask("m"), TWO);
  assert.deepEqual([second.status, second.body.error.code], [429, "rate_limit_exceeded"]);
  assert.equal(second.headers.get("x-ratelimit-remaining-tokens"), "0");
});

test("calls above a rate are not run, and the model is told when it may call again", async (t) => {
  const { gateway, upstream, tools } = await startWorld(t, [], {
    yaml: yaml("{ session_rate: { tool_calls_per_minute: 2 } }"),
    env: ENV,
  });
  await registerTool(
    gateway,
    "get_weather",
    { url: tools.urlOf("get_weather"), rate: { per_minute: 3 } },
    ADMIN,
  );
  const outcomes = [];
  for (const session of ["s1", "s1", "s1", "s2", "s2"]) {
    upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
    const headers = as("key-two-0123456789", { "x-toolweir-session": session });
    const { body } = await complete(gateway, ask("m"), headers);
    const [call] = body.toolweir.tools;
    outcomes.push(call.ok || call.error_kind);
  }
  assert.deepEqual(outcomes, [true, true, "rate", true, "rate"]);
  assert.equal(tools.requests.length, 3);
  const told = upstream.requests
    .map(({ body }) => JSON.stringify(body))
    .filter((text) => text.includes("it was not run"));
  assert.match(
    told[0] ?? "",
    /The limit of 2 tool calls per minute for this session is reached; it was not run/,
  );
  assert.match(
    told[1] ?? "",
    /get_weather\\+" may be called 3 times per minute; it was not run.*call again in \d+ s/,
  );
});

test("a quota of a tool is kept in the store, and answers from the cache do not count", async (t) => {
  const { gateway, upstream, tools } = await startWorld(t, [], {});
  await registerTool(gateway, "get_weather", {
    url: tools.urlOf("get_weather"),
    quota: { per_day: 1, per: "user" },
    cache_ttl_s: 60,
  });
  const asks = (place: string) => whole({ calls: [{ name: "get_weather", args: { place } }] });
  const outcome = async (place: string, user: string) => {
    upstream.script("m", [asks(place), whole(ANSWERS)]);
    const { body } = await complete(gateway, ask("m", { user }));
    const [call] = body.toolweir.tools;
    return call.cached ? "cached" : call.ok || call.error_kind;
  };
  assert.deepEqual(
    [
      await outcome("Paris", "ann"),
      await outcome("Paris", "ann"),
      await outcome("Rome", "ann"),
      await outcome("Rome", "bob"),
    ],
    [true, "cached", "quota", true],
  );
});

test("the official client sees a rate as what it is", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], { yaml: yaml("{}"), env: ENV });
  upstream.script("m", [whole(ANSWERS)]);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "key-one-0123456789", maxRetries: 0 });
  const create = () =>
    client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Go." }] });
  for (let n = 0; n < 3; n++) await create();
  await assert.rejects(
    create,
    (error) => error instanceof OpenAI.RateLimitError && error.code === "rate_limit_exceeded",
  );
});
