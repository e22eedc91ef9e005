import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ask, send, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { streamed } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

const PLACE = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };

test("a tool that fails is answered by its fallback; record, metric and invoke say so", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, ["spare"]);
  const fallback = { tool: "spare", arguments: { place: "{place}" } };
  await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather"), retry: 0, fallback });
  tools.script("get_weather", [json({ error: "down" }, 503)]);
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const reply = await stream(gateway, ask("m"));
  assert.equal(reply.content, "Let me look. It is sunny.");
  assert.deepEqual(
    tools.of("spare").map(({ body }) => body),
    [{ place: "Paris" }],
  );

  const runId = reply.headers.get("x-toolweir-run-id");
  const run = (await (await fetch(`${gateway.url}/runs/${runId}`)).json()) as {
    rounds: { calls: { outcome: string; policy: { fallback: { outcome: string } }[] }[] }[];
  };
  const [call] = run.rounds[0]?.calls ?? [];
  assert.deepEqual([call?.outcome, call?.policy[0]?.fallback.outcome], ["ok", "ok"]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(
    metrics,
    /toolweir_policy_actions_total\{tool="get_weather",class="transient",action="fallback"\} 1/,
  );

  const invoked = await send(gateway, "/tools/get_weather/invoke", { arguments: { place: "Rome" } });
  const { result, policy } = (await invoked.json()) as { result: { data: unknown }; policy: unknown[] };
  assert.deepEqual(result.data, { tool: "spare", got: { place: "Rome" } });
  assert.equal(policy.length, 1);
});

test("a policy can end the run: an error status before the first byte, an error chunk after it", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  await registerTool(gateway, "get_weather", {
    url: tools.urlOf("get_weather"),
    policy: { permission: "fail" },
  });
  tools.script("get_weather", [json({ error: "no" }, 403)]);
  upstream.script("m", [streamed({ calls: ASKS.calls ?? [] }), streamed(ANSWERS)]);
  const whole = await send(gateway, "/v1/chat/completions", { ...ask("m"), stream: false });
  assert.equal(whole.status, 502);
  assert.equal(whole.headers.get("x-should-retry"), "false");
  const { error } = (await whole.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "tool_failed");
  assert.equal(
    error.message,
    'The tool "get_weather" did not permit the call, and its policy ends the run on that.',
  );

  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const broken = await send(gateway, "/v1/chat/completions", ask("m"));
  const text = await broken.text();
  assert.match(text, /"code":"tool_failed"/);
  assert.match(text, /data: \[DONE\]\s*$/);
});

test("a circle is refused, a fallback that is not there is advice, and a patch takes both away", async (t) => {
  const { tools, gateway } = await startWorld(t, []);
  const put = async (name: string, fallback: string) => {
    const http = { method: "POST", url: tools.urlOf(name) };
    const definition = {
      description: "When asked",
      parameters: PLACE,
      http,
      level: "read",
      fallback: { tool: fallback },
    };
    const answer = await fetch(`${gateway.url}/tools/${name}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(definition),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const first = await put("a", "b");
  assert.equal(first.status, 201);
  assert.ok((first.body["lint"] as { reason: string }[]).some(({ reason }) => reason === "fallback_missing"));
  const second = await put("b", "a");
  assert.equal(second.status, 422);
  assert.deepEqual(
    (second.body["error"] as { details: { reason: string }[] }).details.map(({ reason }) => reason),
    ["fallback_cycle"],
  );
  assert.equal((await put("a", "a")).status, 422);
  const patched = await fetch(`${gateway.url}/tools/a`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ fallback: null, policy: { timeout: "fail" } }),
  });
  const body = (await patched.json()) as Record<string, unknown>;
  assert.deepEqual([body["fallback"], body["policy"]], [undefined, { timeout: "fail" }]);
});

test("policies stand in tool files too, and a deprecated parameter is told", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "toolweir-policy-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "tools"));
  const { upstream, tools, gateway } = await startWorld(t, [], { folder });
  await writeFile(
    join(folder, "tools", "get_weather.yaml"),
    `name: get_weather
description: When asked
parameters:
  type: object
  properties: { place: { type: string, deprecated: true } }
http: { method: POST, url: "${tools.urlOf("get_weather")}" }
level: read
policy: { deprecated: tell }
`,
  );
  for (let waits = 0; waits < 100; waits++) {
    if ((await fetch(`${gateway.url}/tools/get_weather`)).ok) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  await stream(gateway, ask("m"));
  const messages = upstream.of("m").at(-1)?.body["messages"] as { role: string; content: string }[];
  const told = JSON.parse(messages.find(({ role }) => role === "tool")?.content ?? "{}");
  assert.equal(told.success, true);
  assert.equal(told.note, 'Deprecated, leave out from now on: "place".');
});

test("a secret that a tool repeats is told to nobody, in a result as little as in an error", async (t) => {
  const secret = "s3cr3t-of-the-weather";
  const { upstream, tools, gateway } = await startWorld(t, [], { env: { TOOL_SECRET_WEATHER: secret } });
  const authorization = `Bearer \${secret:WEATHER}`;
  const http = { method: "POST", url: tools.urlOf("get_weather"), headers: { authorization } };
  await registerTool(gateway, "get_weather", { url: http.url, http });
  const echo = { error: { message: `Key ${secret} is not known.` } };
  tools.script("get_weather", [json(echo, 403), json({ success: false, ...echo }), json({ headers: echo })]);
  for (let round = 0; round < 3; round++) {
    upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
    await stream(gateway, ask("m"));
    const asked = JSON.stringify(upstream.of("m").at(-1)?.body);
    assert.ok(!asked.includes(secret), asked);
    assert.match(asked, /Key \[redacted\] is not known/);
  }
  assert.equal(tools.of("get_weather")[0]?.headers["authorization"], `Bearer ${secret}`);
});
