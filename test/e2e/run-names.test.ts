import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete, send } from "./support/client.ts";
import { streamed, whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

const RUN = /^run_[0-9a-f]{32}$/;
const SESSION = /^ses_[0-9a-f]{32}$/;
const NAMED = { "x-toolweir-session": "s-1" };

test("a refused request has the names of its run and of its session, where it says one or can be read", async (t) => {
  const { gateway } = await startWorld(t, []);
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
    await answer.text();
    assert.match(answer.headers.get("x-toolweir-run-id") ?? "", RUN);
    return [answer.status, answer.headers.get("x-toolweir-session")] as const;
  };
  assert.deepEqual(await post("{", NAMED), [400, "s-1"]);
  assert.deepEqual(await post("{"), [400, null]);
  assert.deepEqual(await post("[]", NAMED), [400, "s-1"]);
  assert.deepEqual(await post('{"model":"m"}', NAMED), [400, "s-1"]);
  assert.deepEqual(await post('{"model":"m","user":"u-1"}'), [400, "u-1"]);
  assert.deepEqual(await post('{"model":"m","metadata":{"session_id":"m-1"},"user":"u-1"}'), [400, "m-1"]);
  assert.match((await post('{"model":"m","metadata":[]}'))[1] ?? "", SESSION);
  assert.deepEqual(await post(JSON.stringify(ask("m")), { "x-toolweir-session": "a b" }), [400, null]);
  assert.deepEqual(await post("x=1", { ...NAMED, "content-type": "text/plain" }), [415, "s-1"]);
  const bad = { ...NAMED, "x-toolweir-tools": "nobody" };
  assert.deepEqual(await post(JSON.stringify(ask("m")), bad), [400, "s-1"]);
});

test("an unauthenticated request names no run", async (t) => {
  const yaml = "auth: { mode: keys, keys: [{ name: app, key: key-of-the-app-1 }] }";
  const env = { TOOLWEIR_ADMIN_KEY: "key-of-the-admin" };
  const { gateway } = await startWorld(t, [], { yaml, env });
  const answer = await send(gateway, "/v1/chat/completions", ask("m"), NAMED);
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get("x-toolweir-run-id"), null);
});

test("x-toolweir-dry-run: 1 sends nothing to a tool and says so in the summary and the record", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
  const { body, headers } = await complete(gateway, ask("m"), { "x-toolweir-dry-run": "1" });
  assert.equal(tools.requests.length, 0);
  assert.equal(body.toolweir.tools[0].dry_run, true);
  const told = JSON.parse(String(upstream.of("m")[1]?.body.messages.at(-1)?.content));
  assert.deepEqual(told.data, {
    dry_run: true,
    message: "validated, not run",
    arguments: { place: "Paris" },
  });
  const record = await send(gateway, `/runs/${headers.get("x-toolweir-run-id")}`, undefined, {}, "GET");
  const { rounds } = (await record.json()) as { rounds: { calls: { outcome: string }[] }[] };
  assert.equal(rounds[0]?.calls[0]?.outcome, "dry_run");
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  await (await send(gateway, "/v1/chat/completions", ask("m"), { "x-toolweir-dry-run": "0" })).text();
  assert.equal(tools.requests.length, 1);
});
