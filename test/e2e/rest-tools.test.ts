import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ask, send, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { streamed } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

test("a tool is offered from the next run on after it was registered, and no more after it was deleted", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  upstream.script("m", [streamed(ANSWERS)]);
  const offered = async () => {
    await stream(gateway, ask("m"));
    return (
      upstream
        .of("m")
        .at(-1)
        ?.body.tools?.map((tool) => tool.function.name) ?? []
    );
  };
  assert.deepEqual(await offered(), []);
  await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather") });
  assert.deepEqual(await offered(), ["get_weather"]);
  assert.equal((await send(gateway, "/tools/get_weather", undefined, {}, "DELETE")).status, 204);
  assert.deepEqual(await offered(), []);
});

test("a run keeps the tools it began with; the next one has the changed ones", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  let reached = () => {};
  let goOn = () => {};
  const inFirst = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  tools.script("get_weather", [{ body: [async () => Promise.all([reached(), held]), '{"ok":true}'] }]);
  const again = { calls: [{ name: "get_weather", args: { place: "Oslo" } }] };
  upstream.script("m", [streamed(ASKS), streamed(again), streamed(ANSWERS)]);
  const running = stream(gateway, ask("m"));
  await inFirst;
  const description = "The new one.";
  await registerTool(gateway, "get_weather", { url: tools.urlOf("new_weather"), description });
  goOn();
  assert.equal((await running).content, "Let me look. It is sunny.");
  assert.equal(tools.of("get_weather").length, 2, "both rounds of the run called the old address");
  assert.equal(tools.of("new_weather").length, 0);
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  await stream(gateway, ask("m"));
  assert.equal(tools.of("new_weather").length, 1);
  const descriptions = upstream.of("m").map(({ body }) => JSON.stringify(body.tools).includes(description));
  assert.deepEqual(descriptions, [false, false, false, true, true]);
});

test("If-Match guards against a lost update", async (t) => {
  const { tools, gateway } = await startWorld(t);
  const first = await send(gateway, "/tools/get_weather", undefined, {}, "GET");
  const etag = first.headers.get("etag") ?? "";
  await first.text();
  const put = (timeout_ms: number) => {
    const http = { method: "POST", url: tools.urlOf("get_weather") };
    const definition = { description: "When asked for the weather.", http, level: "read", timeout_ms };
    return send(gateway, "/tools/get_weather", definition, { "if-match": etag }, "PUT");
  };
  const mine = await put(1000);
  assert.equal(mine.status, 200);
  assert.notEqual(mine.headers.get("etag"), etag);
  const late = await put(2000);
  assert.equal(late.status, 412);
  const stored = await send(gateway, "/tools/get_weather", undefined, {}, "GET");
  assert.equal(((await stored.json()) as { timeout_ms: number }).timeout_ms, 1000);
});

test("a tool file that changes reaches the next runs without a restart", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolweir-e2e-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "tools"));
  const write = (name: string, url: string) =>
    writeFileSync(
      join(folder, "tools", "weather.yaml"),
      `name: ${name}\nlevel: read\ndescription: When asked for the weather.\nhttp: { method: GET, url: "${url}?place={place}" }\nparameters: { type: object, properties: { place: { type: string } }, required: [place] }\n`,
    );
  write("get_weather", "http://127.0.0.1:9/never-called");
  const { upstream, tools, gateway } = await startWorld(t, [], { folder });
  write("get_weather", tools.urlOf("from_file"));
  const deadline = Date.now() + 10_000;
  while (tools.of("from_file").length === 0 && Date.now() < deadline) {
    await sleep(100);
    upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
    await stream(gateway, ask("m"));
  }
  assert.equal(tools.of("from_file")[0]?.url, "/tool/from_file?place=Paris");
});

test("invoke sends a call through the gates and to the tool, a dry run only through the gates", async (t) => {
  const { tools, gateway } = await startWorld(t);
  const invoke = async (body: unknown) =>
    (await (await send(gateway, "/tools/get_weather/invoke", body)).json()) as {
      result: { success: boolean; data: unknown; error: unknown } | null;
      gates: { gate: string; pass: boolean }[];
    };
  const dry = await invoke({ arguments: { place: "Paris" }, dry_run: true });
  assert.equal(dry.result, null);
  assert.ok(dry.gates.length > 0 && dry.gates.every(({ pass }) => pass));
  assert.equal(tools.requests.length, 0);
  const wrong = await invoke({ arguments: { town: "Paris" }, dry_run: true });
  assert.equal(wrong.result?.success, false);
  assert.equal(wrong.gates.at(-1)?.pass, false);
  assert.match(JSON.stringify(wrong.result?.error), /place/);
  tools.script("get_weather", [json({ sun: true })]);
  const real = await invoke({ arguments: { place: "Paris" } });
  assert.deepEqual([real.result?.success, real.result?.data], [true, { sun: true }]);
  assert.deepEqual(tools.requests[0]?.body, { place: "Paris" });
  assert.equal((await send(gateway, "/tools/nothing/invoke", {})).status, 404);
});

test("invoke hands integers above 2^53 to the tool digit for digit", async (t) => {
  const { tools, gateway } = await startWorld(t, []);
  const parameters = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
  await registerTool(gateway, "find", {
    url: `${tools.urlOf("find")}?id={id}`,
    parameters,
  });
  const answer = await fetch(`${gateway.url}/tools/find/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{ "dry_run": false, "arguments" : {"id": 12345678901234567890123} }',
  });
  assert.equal(answer.status, 200);
  assert.match(tools.of("find")[0]?.url ?? "", /id=12345678901234567890123$/);
});

test("a definition that the schema rules forbid is refused with the path of every fault and never offered", async (t) => {
  const { upstream, gateway } = await startWorld(t, []);
  const refused = {
    "parameters.properties.a.type": { a: { type: "strnig" } },
    "parameters.properties.a.$ref": { a: { $ref: "https://schemas.example.com/place" } },
    "parameters.properties.a.pattern": { a: { type: "string", pattern: "(a" } },
  };
  for (const [path, properties] of Object.entries(refused)) {
    const parameters = { type: "object", properties };
    const http = { method: "POST", url: "http://127.0.0.1:9/" };
    const definition = { description: "d", http, level: "read", parameters };
    const response = await send(gateway, "/tools/broken", definition, {}, "PUT");
    assert.equal(response.status, 422);
    const { error } = (await response.json()) as { error: { code: string; details: { path: string }[] } };
    assert.equal(error.code, "schema_rejected");
    assert.deepEqual(
      error.details.map((detail) => detail.path),
      [path],
    );
  }
  upstream.script("m", [streamed(ANSWERS)]);
  await stream(gateway, ask("m"));
  assert.equal(upstream.of("m")[0]?.body.tools, undefined);
});
