import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Stores } from "../../../src/engine/ports/stores.ts";
import { ToolRegistry } from "../../../src/engine/registry/registry.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";

const opened: Stores[] = [];
afterEach(async () => {
  for (const stores of opened.splice(0)) await stores.close();
});

async function open(): Promise<ToolRegistry> {
  const stores = openSqlite(":memory:");
  opened.push(stores);
  return ToolRegistry.open(stores.tools);
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
