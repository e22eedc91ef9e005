/** The settings and tool definitions that the documents show are accepted as they stand. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parse } from "yaml";
import { loadConfig } from "../../src/config.ts";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";
import { blocksOf, DOCUMENTS, readText } from "./markdown.ts";

const folder = mkdtempSync(join(tmpdir(), "toolweir-docs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const SECRETS = {
  OPENAI_API_KEY: "sk-1",
  APP_KEY: "app-key-of-the-examples",
  TOOLWEIR_CLIENT_KEY: "client-key-of-the-examples",
};

for (const document of DOCUMENTS) {
  for (const { role, language, text, line } of blocksOf(readText(document))) {
    if (role === "tool") {
      test(`${document}:${line} is a tool definition without a fault`, () => {
        const { definition, lint } = checkToolDefinition(
          language === "json" ? JSON.parse(text) : parse(text),
        );
        assert.match(definition.name, /^[a-z_]+$/);
        assert.deepEqual(
          lint.filter((note) => note.path === "name" || note.path === "description"),
          [],
        );
      });
    }
    if (role === "config") {
      test(`${document}:${line} is a configuration without a fault`, () => {
        const file = join(folder, "toolweir.yaml");
        writeFileSync(file, text);
        assert.equal(loadConfig({ ...SECRETS, TOOLWEIR_CONFIG: file }).limits.rounds, 10);
      });
    }
  }
}

test("the settings that docker-compose.yml mounts are accepted, and the client key is the one of the environment", () => {
  const file = join(folder, "compose.yaml");
  writeFileSync(file, readText("deploy/config/toolweir.yaml"));
  const config = loadConfig({
    ...SECRETS,
    TOOLWEIR_CONFIG: file,
    TOOLWEIR_HOST: "0.0.0.0",
    TOOLWEIR_ADMIN_KEY: "admin-key-of-the-examples",
  });
  assert.deepEqual(
    config.auth.keys.map(({ name, key }) => ({ name, key })),
    [{ name: "app", key: SECRETS.TOOLWEIR_CLIENT_KEY }],
  );
  assert.equal(config.tools.network, "guarded");
});
