import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Stores } from "../../../src/engine/ports/stores.ts";
import type { ToolProblem } from "../../../src/engine/registry/definition-faults.ts";
import type { RegistryOptions, ToolRegistry } from "../../../src/engine/registry/registry.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";
import { openRegistry } from "../../support/registry.ts";

const opened: Stores[] = [];
afterEach(async () => {
  for (const stores of opened.splice(0)) await stores.close();
});

async function setup(options: RegistryOptions = {}) {
  const stores = openSqlite(":memory:", () => 5_000);
  opened.push(stores);
  return { store: stores.tools, registry: await openRegistry(stores.tools, options) };
}

const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string", description: "City" } },
  required: ["city"],
};

const tool = (change: object = {}) => ({
  description: "When the user asks for the weather",
  parameters: PARAMETERS,
  http: { method: "POST", url: "https://api.example.com/weather" },
  level: "read",
  ...change,
});

const fileTool = (registry: ToolRegistry, name: string, change: object = {}) => ({
  file: "tools/a.yaml",
  tool: registry.check(tool({ name, ...change })),
  updatedAt: 1,
});

test("a tool that was put is offered from then on, and an older snapshot stays as it was", async () => {
  const { registry } = await setup();
  const before = registry.snapshot();
  const { tool: stored, created } = await registry.put("get_weather", tool());
  assert.equal(created, true);
  assert.equal(before.get("get_weather"), undefined);
  assert.deepEqual(before.names, []);
  const after = registry.snapshot();
  assert.equal(after.get("get_weather"), stored);
  assert.ok(after.revision > before.revision);
  const { version, name, timeout_ms } = stored.definition;
  assert.deepEqual(
    [version, name, timeout_ms, stored.updatedAt, stored.etag],
    [1, "get_weather", 10_000, 5_000, '"1"'],
  );
  assert.throws(() => Object.assign(stored.definition, { name: "x" }), TypeError);
});

test("the model is offered the schema as it was written, and examples in the description", async () => {
  const { registry } = await setup();
  const { tool: plain } = await registry.put("bare", tool({ parameters: undefined, description: "" }));
  assert.deepEqual(JSON.parse(plain.specText), {
    type: "function",
    function: {
      name: "bare",
      description: "",
      parameters: { type: "object", properties: {}, additionalProperties: false },
    },
  });
  const { tool: rich } = await registry.put("rich", tool({ examples: [{ city: "Oslo" }, "Is it raining?"] }));
  assert.deepEqual(JSON.parse(rich.specText).function, {
    name: "rich",
    description: 'When the user asks for the weather\n\nExamples:\n- {"city":"Oslo"}\n- Is it raining?',
    parameters: PARAMETERS,
  });
});

test("snapshots list the tools by name, whatever the order of registration", async () => {
  const { registry } = await setup();
  for (const name of ["zebra", "Ant", "bee"]) await registry.put(name, tool());
  assert.deepEqual(registry.snapshot().names, ["Ant", "bee", "zebra"]);
  assert.deepEqual(
    registry
      .snapshot()
      .list()
      .map(({ definition }) => definition.name),
    ["Ant", "bee", "zebra"],
  );
});

test("a schema that has not changed is not compiled again", async () => {
  const { registry } = await setup();
  const { tool: first } = await registry.put("t", tool());
  const { tool: second } = await registry.put("t", tool({ description: "other" }));
  const { tool: third } = await registry.patch("t", { parameters: { required: null } });
  assert.equal(second.schema, first.schema);
  assert.notEqual(third.schema, first.schema);
});

test("a refused definition changes nothing", async () => {
  const { registry, store } = await setup();
  await registry.put("t", tool());
  const before = registry.snapshot();
  await assert.rejects(registry.put("t", tool({ level: "root" })), { code: "invalid_tool_definition" });
  await assert.rejects(registry.put("a.b", tool()), { code: "schema_rejected" });
  await assert.rejects(registry.put("t", tool({ name: "u" })), { code: "invalid_tool_definition" });
  await assert.rejects(registry.patch("t", { http: null }), { code: "invalid_tool_definition" });
  await assert.rejects(registry.patch("t", [{ op: "remove", path: "/http" }]), {
    code: "invalid_tool_definition",
  });
  assert.equal(registry.snapshot(), before);
  assert.equal((await store.versions("t")).length, 1);
});

test("the network policy is asked for every definition", async () => {
  const { registry } = await setup({
    allowUrl: (url) => (url.hostname === "10.0.0.1" ? "A private address." : undefined),
  });
  await registry.put("t", tool());
  const http = { url: "http://10.0.0.1/" };
  await assert.rejects(registry.patch("t", { http }), {
    code: "schema_rejected",
    message: /A private address/,
  });
});

test("create refuses a name that is taken, before it looks at the rest", async () => {
  const { registry } = await setup();
  await registry.create(tool({ name: "t" }));
  registry.setFileTools([fileTool(registry, "from_file")]);
  await assert.rejects(registry.create({ name: "t" }), { code: "tool_exists" });
  await assert.rejects(registry.create(tool({ name: "from_file" })), { code: "tool_exists" });
  await assert.rejects(registry.create(tool()), { code: "invalid_tool_definition" });
});

test("a patch is merged into the whole definition and makes a new version", async () => {
  const { registry } = await setup();
  await registry.put("t", tool({ timeout_ms: 500, tags: ["a"] }));
  const { tool: patched } = await registry.patch("t", {
    timeout_ms: null,
    tags: ["b"],
    http: { query: { q: "{city}" } },
  });
  const { version, timeout_ms, tags, http } = patched.definition;
  assert.deepEqual(
    [version, timeout_ms, tags, http.query, http.method],
    [2, 10_000, ["b"], { q: "{city}" }, "POST"],
  );
  await assert.rejects(registry.patch("nobody", {}), { code: "tool_not_found" });
});

test("a precondition sees the current tag, and a refusal says it", async () => {
  const { registry } = await setup();
  const seen: unknown[] = [];
  const note = (answer: boolean) => (etag: string | undefined) => {
    seen.push(etag);
    return answer;
  };
  await assert.rejects(registry.put("t", tool(), note(false)), { code: "precondition_failed" });
  await registry.put("t", tool(), note(true));
  await assert.rejects(registry.put("t", tool(), note(false)), { options: { headers: { etag: '"1"' } } });
  await assert.rejects(registry.patch("t", {}, note(false)), { code: "precondition_failed" });
  await assert.rejects(registry.delete("t", note(false)), { code: "precondition_failed" });
  assert.deepEqual(seen, [undefined, undefined, '"1"', '"1"', '"1"']);
  assert.equal(registry.snapshot().get("t")?.definition.version, 1);
});

test("of writers at the same time with the same tag, one wins", async () => {
  const { registry } = await setup();
  await registry.put("t", tool());
  const writes = Array.from({ length: 5 }, () => registry.put("t", tool(), (etag) => etag === '"1"'));
  const results = await Promise.allSettled(writes);
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(registry.snapshot().get("t")?.definition.version, 2);
});

test("a change by another holder of the store in the same moment is not overwritten", async () => {
  const { registry, store } = await setup();
  const { definition } = registry.check(tool({ name: "t" }));
  const put = store.put.bind(store);
  store.put = async (...args) => {
    await put({ ...definition, description: "theirs" });
    return put(...args);
  };
  await assert.rejects(registry.put("t", tool()), { code: "precondition_failed" });
  assert.equal((await store.get("t"))?.definition.description, "theirs");
});

test("a deleted tool is gone, its versions stay, and its numbers do not come back", async () => {
  const { registry } = await setup();
  await registry.put("t", tool());
  await registry.delete("t");
  assert.equal(registry.snapshot().get("t"), undefined);
  await assert.rejects(registry.delete("t"), { code: "tool_not_found" });
  assert.equal((await registry.versions("t")).length, 1);
  await assert.rejects(registry.versions("nobody"), { code: "tool_not_found" });
  const { tool: again, created } = await registry.put("t", tool());
  assert.equal(created, true);
  assert.ok(again.definition.version > 1);
});

test("what is stored is there at the next start; what is no longer valid is reported and can be replaced", async () => {
  const { registry, store } = await setup();
  await registry.put("good", tool());
  await registry.put("private", tool({ http: { method: "GET", url: "http://10.0.0.1/" } }));
  const problems: ToolProblem[] = [];
  const next = await openRegistry(store, {
    allowUrl: ({ hostname }) => (hostname === "10.0.0.1" ? "A private address." : undefined),
    onProblem: (problem) => problems.push(problem),
  });
  assert.deepEqual(next.snapshot().names, ["good"]);
  assert.deepEqual(problems, [{ source: "store: private", path: "http.url", message: "A private address." }]);
  const { tool: replaced, created } = await next.put("private", tool());
  assert.deepEqual([replaced.definition.version, created], [2, false]);
});
