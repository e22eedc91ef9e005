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

const notesOn = (change: object) => checkToolDefinition({ ...GOOD, ...change }).lint;
const lint = (change: object) => notesOn(change).map(({ reason, path }) => `${reason} ${path}`);
const suggestions = (change: object) => notesOn(change).map(({ suggestion }) => suggestion);

test("a good definition has no notes", () => assert.deepEqual(lint({}), []));

test("names and descriptions that make it hard for a model are noted", () => {
  assert.deepEqual(lint({ name: "getWeather" }), ["name_not_snake_case name"]);
  assert.deepEqual(lint({ description: " " }), ["description_missing description"]);
  assert.deepEqual(lint({ description: `When ${"d".repeat(1025)}` }), ["description_long description"]);
  const parameters = { ...GOOD.parameters, properties: { city: { type: "string" } } };
  assert.deepEqual(lint({ parameters }), ["description_missing parameters.properties.city"]);
});

for (const [said, description] of [
  [true, "Finds an order. Use it when the user asks about one."],
  [true, "Whenever a place is named."],
  [true, "用户询问天气时使用。"],
  [true, "Wenn der Nutzer nach dem Wetter fragt."],
  [true, "Погода в городе"],
  [false, "Current weather for a city"],
  [false, "Weather API v2 (JSON)."],
  [false, "查询天气"],
] as const) {
  test(`"${description}" ${said ? "says" : "does not say"} when to use the tool`, () => {
    assert.deepEqual(lint({ description }), said ? [] : ["description_without_when description"]);
  });
}

test("what is suggested can be taken over, and is then no longer noted", () => {
  assert.deepEqual(suggestions({ name: "getWeather" }), ["get_weather"]);
  assert.deepEqual(suggestions({ name: "2FA-check" }), ["tool_2fa_check"]);
  const [missing = ""] = suggestions({ description: "" });
  assert.equal(missing, "Use it when the user wants to get weather.");
  const [longer = ""] = suggestions({ description: "Weather of a city" });
  assert.equal(longer, "Weather of a city. Use it when the user wants to get weather.");
  const [topic = ""] = suggestions({ name: "weather", description: "" });
  assert.equal(topic, "Use it when the user asks about weather.");
  const [short = ""] = suggestions({ description: `When ${"word ".repeat(300)}` });
  assert.ok(short.length < 600);
  for (const description of [missing, longer, topic, short]) assert.deepEqual(lint({ description }), []);
});

test("arguments that are never sent, or may be missing from the URL, are noted", () => {
  const unsent = { ...GOOD.http, url: "https://api.example.com/", body: "none" };
  assert.deepEqual(lint({ http: unsent }), ["parameter_not_sent parameters.properties.city"]);
  assert.deepEqual(suggestions({ http: unsent }), ['"query": { "city": "{city}" }']);
  assert.deepEqual(lint({ http: { ...unsent, query: { q: "{city}" } } }), []);
  assert.deepEqual(lint({ http: { ...unsent, headers: { "x-city": "{city}" } } }), []);
  const optional = { parameters: { ...GOOD.parameters, required: [] } };
  assert.deepEqual(lint(optional), ["url_parameter_optional http.url"]);
  assert.deepEqual(suggestions(optional), ['"required": ["city"]']);
});

test("a DELETE that claims to read, and a credential in clear text, are noted", () => {
  assert.deepEqual(lint({ http: { ...GOOD.http, method: "DELETE" } }), ["delete_is_read level"]);
  const withHeader = (name: string, value: string) => ({
    http: { ...GOOD.http, headers: { [name]: value } },
  });
  const clear = withHeader("Authorization", "Bearer abc");
  assert.deepEqual(lint(clear), ["credential_in_clear http.headers.Authorization"]);
  assert.deepEqual(suggestions(clear), [`Bearer \${secret:GET_WEATHER}`]);
  assert.ok(!JSON.stringify(notesOn(clear)).includes("abc"), "the credential is not repeated");
  assert.deepEqual(lint(withHeader("x-api-key", "abc")), ["credential_in_clear http.headers.x-api-key"]);
  assert.deepEqual(lint(withHeader("authorization", `Bearer \${secret:KEY}`)), []);
  assert.deepEqual(lint(withHeader("accept", "text/plain")), []);
});

test("every note says why and what instead, and there are 100 at most", () => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`pName${n}`, {}]));
  const notes = notesOn({
    name: "GetWeather",
    description: "x",
    http: { method: "DELETE", url: "https://a.example/", headers: { cookie: "a" } },
    parameters: { type: "object", properties },
  });
  assert.equal(notes.length, 100);
  for (const { reason, message, suggestion } of notes) {
    assert.match(reason, /^[a-z_]+$/);
    assert.ok(message.length > 20 && suggestion !== "", reason);
  }
});
