import assert from "node:assert/strict";
import { test } from "node:test";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";

const GOOD = {
  name: "get_weather",
  description: "When the user asks for the weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "City" } },
    required: ["city"],
  },
  http: { method: "GET", url: "https://api.example.com/{city}" },
  level: "read",
};

const lint = (change: object) =>
  checkToolDefinition({ ...GOOD, ...change }).lint.map(({ reason, path }) => `${reason} ${path}`);

test("a good definition has no notes", () => assert.deepEqual(lint({}), []));

test("names and descriptions that make it hard for a model are noted", () => {
  assert.deepEqual(lint({ name: "getWeather" }), ["name_not_snake_case name"]);
  assert.deepEqual(lint({ description: " " }), ["description_missing description"]);
  assert.deepEqual(lint({ description: "d".repeat(1025) }), ["description_long description"]);
  const parameters = { ...GOOD.parameters, properties: { city: { type: "string" } } };
  assert.deepEqual(lint({ parameters }), ["description_missing parameters.properties.city"]);
});

test("arguments that are never sent, or may be missing from the URL, are noted", () => {
  const unsent = { ...GOOD.http, url: "https://api.example.com/", body: "none" };
  assert.deepEqual(lint({ http: unsent }), ["parameter_not_sent parameters.properties.city"]);
  assert.deepEqual(lint({ http: { ...unsent, query: { q: "{city}" } } }), []);
  assert.deepEqual(lint({ http: { ...unsent, headers: { "x-city": "{city}" } } }), []);
  assert.deepEqual(lint({ parameters: { ...GOOD.parameters, required: [] } }), [
    "url_parameter_optional http.url",
  ]);
});

test("a DELETE that claims to read, and a credential in clear text, are noted", () => {
  assert.deepEqual(lint({ http: { ...GOOD.http, method: "DELETE" } }), ["delete_is_read level"]);
  const withHeader = (name: string, value: string) =>
    lint({ http: { ...GOOD.http, headers: { [name]: value } } });
  assert.deepEqual(withHeader("Authorization", "Bearer abc"), [
    "credential_in_clear http.headers.Authorization",
  ]);
  assert.deepEqual(withHeader("x-api-key", "abc"), ["credential_in_clear http.headers.x-api-key"]);
  assert.deepEqual(withHeader("authorization", `Bearer \${secret:KEY}`), []);
  assert.deepEqual(withHeader("accept", "text/plain"), []);
});

test("members without effect in this version are noted", () => {
  assert.deepEqual(lint({ cache_ttl_s: 60, partial_ok: true }), [
    "no_effect cache_ttl_s",
    "no_effect partial_ok",
  ]);
});
