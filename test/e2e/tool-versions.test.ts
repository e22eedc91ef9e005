import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete, send, stream } from "./support/client.ts";
import { type Gateway, registerTool } from "./support/gateway.ts";
import { streamed, whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

async function rest(gateway: Gateway, method: string, path: string, body?: unknown) {
  const response = await send(gateway, path, body, {}, method);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const put = (gateway: Gateway, url: string, more: object = {}) =>
  rest(gateway, "PUT", "/tools/get_weather", {
    description: "Use it when the user asks for the weather.",
    parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    http: { method: "POST", url },
    level: "read",
    ...more,
  });

test("an earlier version is stored again as a new one", async (t) => {
  const { gateway, tools } = await startWorld(t, []);
  await put(gateway, tools.urlOf("one"));
  await put(gateway, tools.urlOf("two"));
  const { status, body } = await rest(gateway, "POST", "/tools/get_weather/rollback", { version: 1 });
  assert.deepEqual([status, body.version, body.http.url], [200, 3, tools.urlOf("one")]);
  const { body: versions } = await rest(gateway, "GET", "/tools/get_weather/versions");
  assert.deepEqual(
    versions.data.map((version: { version: number }) => version.version),
    [1, 2, 3],
  );
  for (const [version, code] of [
    [9, "version_not_found"],
    ["1", "invalid_type"],
  ] as const) {
    const refused = await rest(gateway, "POST", "/tools/get_weather/rollback", { version });
    assert.equal(refused.body.error.code, code);
  }
  assert.equal((await rest(gateway, "POST", "/tools/nobody/rollback", { version: 1 })).status, 404);
});

test("a canary gets its share of the sessions, always the same ones", async (t) => {
  const { gateway, tools, upstream } = await startWorld(t, []);
  await put(gateway, tools.urlOf("stable"));
  await put(gateway, tools.urlOf("canary"));
  const wrong = await put(gateway, tools.urlOf("stable"), { canary: { version: 7, percent: 30 } });
  assert.deepEqual([wrong.status, wrong.body.error.details[0].path], [422, "canary.version"]);
  const linted = await rest(gateway, "POST", "/tools/lint", {
    name: "get_weather",
    level: "read",
    http: { method: "POST", url: tools.urlOf("stable") },
    canary: { version: 7, percent: 30 },
  });
  assert.deepEqual([linted.body.valid, linted.body.faults[0].path], [false, "canary.version"]);
  const { body } = await put(gateway, tools.urlOf("stable"), { canary: { version: 2, percent: 30 } });
  assert.deepEqual(body.canary, { version: 2, percent: 30 });
  const ask100 = () =>
    Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        upstream.script(`m${n}`, [whole(ASKS), whole(ANSWERS)]);
        const { headers } = await complete(gateway, ask(`m${n}`), { "x-toolweir-session": `s${n}` });
        const run = await rest(gateway, "GET", `/runs/${headers.get("x-toolweir-run-id")}`);
        return run.body.rounds[0].calls[0].version;
      }),
    );
  const versions = await ask100();
  const share = versions.filter((version) => version === 2).length;
  assert.ok(share >= 15 && share <= 45, `${share}`);
  assert.deepEqual(await ask100(), versions);
  assert.equal(tools.of("canary").length, 2 * share);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(
    metrics,
    new RegExp(`toolweir_canary_calls_total\\{tool="get_weather",outcome="ok"\\} ${2 * share}`),
  );
});

test("what a canary asked for is approved and carried out as the canary's", async (t) => {
  const { gateway, tools, upstream } = await startWorld(t, []);
  const write = { level: "write" };
  await put(gateway, tools.urlOf("canary"), write);
  await put(gateway, tools.urlOf("stable"), { ...write, canary: { version: 1, percent: 100 } });
  upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
  const { body } = await complete(gateway, ask("m"), { "x-toolweir-session": "s1" });
  const [pending] = body.toolweir.pending_approvals;
  const approved = await rest(gateway, "POST", `/approvals/${pending.id}/approve`, {});
  assert.equal(approved.status, 200, JSON.stringify(approved.body));
  for (let tries = 0; tools.requests.length === 0 && tries < 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual([tools.of("canary").length, tools.of("stable").length], [1, 0]);
});

test("a deprecated tool says so in its description, beside its result and in the metrics", async (t) => {
  const { gateway, tools, upstream } = await startWorld(t, []);
  const { body } = await put(gateway, tools.urlOf("old"), {
    deprecated: { use: "forecast", message: "It knows more." },
  });
  assert.ok(body.lint.some((note: { reason: string }) => note.reason === "replacement_missing"));
  upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
  await complete(gateway, ask("m"));
  const [first, second] = upstream.of("m").map((request) => JSON.stringify(request.body));
  assert.match(first ?? "", /Deprecated\. Use forecast instead\. It knows more\./);
  assert.match(second ?? "", /is deprecated: use .{1,8}forecast.{1,8} from now on\. It knows more\./);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(
    metrics,
    /toolweir_policy_actions_total\{tool="get_weather",class="deprecated",action="tell"\} 1/,
  );
});

test("a thought is asked for, recorded and not sent", async (t) => {
  const { gateway, tools, upstream } = await startWorld(t, [], { yaml: "cancel_early: true" });
  await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather"), thought: true });
  const call = { name: "get_weather", args: { thought: "The user wants to know.", place: "Oslo" } };
  upstream.script("m", [streamed({ calls: [call] }), streamed(ANSWERS)]);
  const seen = await stream(gateway, ask("m"));
  assert.equal(seen.content, "It is sunny.");
  assert.deepEqual(tools.requests[0]?.body, { place: "Oslo" });
  const offered = upstream.of("m")[0]?.body.tools?.[0] as unknown as {
    function: { parameters: { properties: object; required: string[] } };
  };
  assert.deepEqual(Object.keys(offered.function.parameters.properties), ["thought", "place"]);
  assert.deepEqual(offered.function.parameters.required, ["thought", "place"]);
  const { body } = await rest(gateway, "GET", `/runs/${seen.headers.get("x-toolweir-run-id")}`);
  assert.equal(body.rounds[0].calls[0].thought, "The user wants to know.");
  const clash = await put(gateway, tools.urlOf("x"), {
    thought: true,
    parameters: { type: "object", properties: { thought: { type: "string" } } },
  });
  assert.deepEqual([clash.status, clash.body.error.details[0].path], [422, "thought"]);
});

test("a change that breaks calls made before is noted where it is made, and tools are found by tag", async (t) => {
  const { gateway, tools } = await startWorld(t, []);
  await put(gateway, tools.urlOf("x"), { tags: ["outdoor"] });
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const definition = {
    name: "get_weather",
    level: "read",
    http: { method: "POST", url: tools.urlOf("x") },
    parameters,
  };
  const linted = await rest(gateway, "POST", "/tools/lint", definition);
  const breaking = (body: { lint: { reason: string; path: string }[] }) =>
    body.lint.filter(({ reason }) => reason === "breaking_change").map(({ path }) => path);
  assert.deepEqual(breaking(linted.body), ["parameters.required", "parameters.properties.place"]);
  const stored = await put(gateway, tools.urlOf("x"), { parameters });
  assert.deepEqual(breaking(stored.body), ["parameters.required", "parameters.properties.place"]);
  await registerTool(gateway, "other", { url: tools.urlOf("x"), tags: ["indoor"] });
  const { body } = await rest(gateway, "GET", "/tools?tag=indoor");
  assert.deepEqual(
    body.data.map(({ name }: { name: string }) => name),
    ["other"],
  );
});
