/** The tables of the documents list exactly what the code knows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SETTINGS } from "../../src/config-schema.ts";
import type { SettingSchema } from "../../src/config-shapes.ts";
import { PROTOCOL_NAMES } from "../../src/core/protocol/text/text-protocol.ts";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";
import { firstColumn, readText, tableUnder } from "./markdown.ts";

/** `limits.rounds`, `upstreams[].name`: every setting that is not a group. */
function settingPaths(schema: SettingSchema, path = ""): string[] {
  if (schema.items) return settingPaths(schema.items, `${path}[]`).map((name) => name.replace(/\[\]$/, ""));
  if (!schema.properties) return [path];
  return Object.entries(schema.properties).flatMap(([name, member]) =>
    settingPaths(member, path === "" ? name : `${path}.${name}`),
  );
}

test("docs/configuration.md has every setting of the file and no other", () => {
  const documented = firstColumn(readText("docs/configuration.md"), "The file");
  assert.deepEqual([...documented].sort(), settingPaths(SETTINGS).sort());
});

test("docs/configuration.md has every variable that the code reads", () => {
  const documented = firstColumn(readText("docs/configuration.md"), "Environment");
  const source = readText("src/config.ts") + readText("src/config-file.ts");
  const read = new Set([...source.matchAll(/"(TOOLWEIR_[A-Z_]+)"/g)].map((match) => match[1] ?? ""));
  assert.deepEqual(documented.filter((name) => name.startsWith("TOOLWEIR_")).sort(), [...read].sort());
});

/** Members of a definition as the documents name them: groups by their members. */
function flatMembers(definition: object): Map<string, unknown> {
  const members = Object.entries(definition).flatMap(([name, value]): [string, unknown][] => {
    const isGroup = value !== null && typeof value === "object" && !Array.isArray(value);
    const inner = isGroup ? Object.entries(value) : [];
    return inner.length > 0 ? inner.map(([member, of]) => [`${name}.${member}`, of]) : [[name, value]];
  });
  return new Map(members);
}

test("docs/protocols.md has every text protocol and no other", () => {
  const cells = tableUnder(readText("docs/protocols.md"), "Formats").map(([name = ""]) => name);
  const documented = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]));
  assert.deepEqual([...documented, "native", "auto"].sort(), [...PROTOCOL_NAMES].sort());
});

test("docs/tools.md has every member of a tool definition, with its default", () => {
  const rows = tableUnder(readText("docs/tools.md"), "A definition");
  const plain = (cell = "") => cell.replaceAll("`", "");
  const documented = new Map(rows.map(([name, fallback]) => [plain(name), plain(fallback)]));
  const http = { method: "POST", url: "https://a.example" };
  const members = flatMembers(checkToolDefinition({ name: "t", http, level: "read" }).definition);
  for (const [name, fallback] of documented) {
    if (fallback === "none") continue;
    assert.ok(members.has(name), `${name} is documented, but no definition has it`);
    if (fallback === "required" || name === "http.body") continue;
    const value = members.get(name);
    assert.ok([value, JSON.stringify(value)].includes(fallback), `${name}: ${fallback}`);
  }
  for (const name of members.keys()) assert.ok(documented.has(name), `${name} is not documented`);
});

test("docs/wire.md has every error code, with its status and type", () => {
  const rows = tableUnder(readText("docs/wire.md"), "Codes").map((row) => row.slice(0, 3).join(" "));
  const table = readText("src/errors.ts").matchAll(/^ {2}(\w+): \[(\d+), "(\w+)"\],$/gm);
  const known = [...table].map(([, code, status, type]) => `\`${code}\` ${status} \`${type}\``);
  assert.ok(known.length > 40);
  assert.deepEqual([...rows].sort(), known.sort());
});

test("docs/tools.md has every reason of the advice about a tool", () => {
  const documented = firstColumn(readText("docs/tools.md"), "Registering");
  const files = [
    "core/rules/lint-rules.ts",
    "core/tool-lint.ts",
    "core/tool-lint-default.ts",
    "core/tool-lint-nesting.ts",
    "core/tool-lint-schema.ts",
    "core/tool-lint-select.ts",
    "core/tool-lint-registry.ts",
    "core/tool-policy.ts",
    "engine/registry/registry.ts",
    "engine/registry/change-notes.ts",
  ];
  const source = files.map((file) => readText(`src/${file}`)).join("");
  const known = new Set([...source.matchAll(/\bnote\(\s*"(\w+)"/g)].map((match) => match[1] ?? ""));
  assert.ok(known.size > 15);
  assert.deepEqual([...documented].sort(), [...known].sort());
});
