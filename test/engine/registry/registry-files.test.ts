import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Stores } from "../../../src/engine/ports/stores.ts";
import { withoutCanary } from "../../../src/engine/registry/definition-faults.ts";
import type { ToolRegistry } from "../../../src/engine/registry/registry.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";
import { openRegistry } from "../../support/registry.ts";

const opened: Stores[] = [];
afterEach(async () => {
  for (const stores of opened.splice(0)) await stores.close();
});

async function open(): Promise<ToolRegistry> {
  const stores = openSqlite(":memory:");
  opened.push(stores);
  return openRegistry(stores.tools);
}

const definition = (name: string, description: string) => ({
  name,
  description,
  http: { method: "POST", url: "https://api.example.com/" },
  level: "read",
});

const fileTool = (registry: ToolRegistry, name: string, description = "from the file") => ({
  file: "tools/a.yaml",
  tool: registry.check(definition(name, description)),
  updatedAt: 1,
});

const textOf = (registry: ToolRegistry, name: string) =>
  registry.snapshot().get(name)?.definition.description;

test("file tools stand beside stored ones, and each new set replaces the last", async () => {
  const registry = await open();
  await registry.put("stored", definition("stored", "stored"));
  registry.setFileTools([fileTool(registry, "a"), fileTool(registry, "b")]);
  assert.deepEqual(registry.snapshot().names, ["a", "b", "stored"]);
  registry.setFileTools([fileTool(registry, "b")]);
  assert.deepEqual(registry.snapshot().names, ["b", "stored"]);
});

test("a file tool keeps its version and tag until it changes, and never gets the tag of a stored one", async () => {
  const registry = await open();
  registry.setFileTools([fileTool(registry, "a")]);
  const first = registry.snapshot().get("a");
  registry.setFileTools([fileTool(registry, "a")]);
  assert.equal(registry.snapshot().get("a"), first);
  registry.setFileTools([]);
  registry.setFileTools([fileTool(registry, "a", "changed")]);
  const second = registry.snapshot().get("a");
  assert.deepEqual([first?.definition.version, second?.definition.version], [1, 2]);
  assert.notEqual(second?.etag, first?.etag);
  const { tool } = await registry.put("a", definition("a", "changed"));
  assert.equal(tool.definition.version, 1);
  assert.ok(![first?.etag, second?.etag].includes(tool.etag));
});

test("a stored tool hides the file tool of its name and says so; deleting it shows that one again", async () => {
  const registry = await open();
  registry.setFileTools([fileTool(registry, "a")]);
  const { tool, created } = await registry.put("a", definition("a", "stored"));
  assert.equal(created, false);
  assert.ok(tool.lint.some(({ reason }) => reason === "hides_file_tool"));
  registry.setFileTools([fileTool(registry, "a", "newer file")]);
  assert.equal(textOf(registry, "a"), "stored");
  await registry.delete("a");
  assert.equal(textOf(registry, "a"), "newer file");
});

test("a file tool can be patched into a stored one, but not deleted", async () => {
  const registry = await open();
  registry.setFileTools([fileTool(registry, "a")]);
  await assert.rejects(registry.delete("a"), { code: "tool_is_file", status: 409, message: /file/ });
  assert.deepEqual(
    (await registry.versions("a")).map((version) => version.definition.description),
    ["from the file"],
  );
  const { tool: patched } = await registry.patch("a", { description: "patched" });
  assert.equal(patched.definition.version, 1);
  assert.equal(textOf(registry, "a"), "patched");
});

test("a stored tool that takes less than the file tool it hides is noted", async () => {
  const registry = await open();
  const withParameters = (names: string[]) => ({
    ...definition("a", "x"),
    parameters: { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) },
  });
  const tool = registry.check(withParameters(["p", "q"]));
  registry.setFileTools([{ file: "tools/a.yaml", tool, updatedAt: 1 }]);
  const { changes } = await registry.put("a", withParameters(["p"]));
  assert.deepEqual(
    changes.map(({ reason, path }) => [reason, path]),
    [["breaking_change", "parameters.properties.q"]],
  );
});

test("a canary in a file is refused: there is nothing it could be a version of", async () => {
  const registry = await open();
  const checked = registry.check({ ...definition("a", "x"), canary: { version: 1, percent: 5 } });
  assert.throws(() => withoutCanary(checked), /"canary": a tool in a file has no other versions/);
  const plain = registry.check(definition("a", "x"));
  assert.equal(withoutCanary(plain), plain);
});

test("only what some sessions get in another version differs between the snapshots of sessions", async () => {
  const registry = await open();
  for (const text of ["canary", "stable"]) await registry.put("b", definition("b", text));
  await registry.put("a", definition("a", "other"));
  const half = { ...definition("b", "stable"), canary: { version: 1, percent: 50 } };
  await registry.put("b", half);
  const snapshot = registry.snapshot();
  const sessions = Array.from({ length: 40 }, (_, n) => snapshot.forSession(`s${n}`));
  const [own] = sessions.filter((one) => one !== snapshot);
  assert.ok(own && sessions.includes(snapshot));
  assert.equal(own.get("b")?.definition.description, "canary");
  assert.equal(own.get("b")?.isCanary, true);
  assert.equal(own.get("a"), snapshot.get("a"));
  assert.deepEqual(
    own.list().map((tool) => tool.definition.name),
    own.names,
  );
  assert.equal(own.list()[1], own.get("b"));
  assert.equal(own.revision, snapshot.revision);
});
