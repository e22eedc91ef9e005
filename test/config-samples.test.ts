import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { loadConfig } from "../src/config.ts";
import { checkToolDefinition } from "../src/core/tool-definition.ts";

const sample = (name: string): string => readFileSync(new URL(`../config/${name}`, import.meta.url), "utf8");
const load = (text: string, env: Record<string, string> = {}) => loadConfig(env, () => text);

suite("the files in config/", () => {
  test("toolweir.yaml starts as it stands, without a secret, with the defaults", () => {
    assert.deepEqual(load(sample("toolweir.yaml")), load(""));
  });

  test("toolweir.yaml with everything uncommented is good, and holds every setting that has an effect", () => {
    const text = sample("toolweir.yaml").replace(/^#(?=\S| {2})/gm, "");
    const config = load(text, { ADMIN_KEY: "a", APP_KEY: "b", BACKUP_KEY: "c", OPENAI_API_KEY: "d" });
    assert.deepEqual(config.limits, load("").limits);
    assert.deepEqual(config.upstreams[0], { ...load("").upstreams[0], api_key: "d", fallback: ["backup"] });
    assert.deepEqual(
      [config.adminKey, config.auth.keys[0]?.key, config.upstreams[1]?.api_key],
      ["a", "b", "c"],
    );
    const settings = Object.keys(parse(text)).sort();
    // Not settings of their own: a place, what is said of others, and what stands in limits and keys.
    const made = ["toolsDir", "notices", "budgets", "rates", "keyPepper", "workers"];
    const members = Object.keys(load("")).filter((name) => !made.includes(name));
    const expected = members.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
    assert.deepEqual(settings, expected.sort());
  });

  for (const name of ["get_weather", "create_ticket"]) {
    test(`tools/${name}.yaml.example is a good tool of that name`, () => {
      const { definition, lint } = checkToolDefinition(parse(sample(`tools/${name}.yaml.example`)));
      assert.equal(definition.name, name);
      assert.deepEqual(lint, []);
      assert.match(definition.http.url, /^https:\/\/[a-z]+\.example\.com\//);
    });
  }
});
