import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { GatewayError } from "../../src/errors.ts";
import { parseJson, requireObject } from "../../src/http/json-body.ts";
import { CHAT, createEdge } from "./edge.ts";

const refusal = (code: string) => (error: unknown) => error instanceof GatewayError && error.code === code;
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

test("what JSON.parse reads within the bounds is read the same", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5, noUnicodeString: false } as object), (text) => {
      fc.pre(!text.includes("__proto__") && !text.includes("constructor"));
      assert.deepEqual(parseJson(Buffer.from(text)), JSON.parse(text));
    }),
  );
});

test("brackets, quotes and backslashes in strings do not count as nesting", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("[", "{", "]", '"', "\\", "a", "é")), (parts) => {
      const value = [parts.join("").repeat(100), "y".repeat(20_000), parts.join("")];
      assert.deepEqual(parseJson(Buffer.from(JSON.stringify(value))), value);
    }),
  );
});

const REFUSED: readonly (readonly [name: string, body: string | Buffer, code: string])[] = [
  ["nothing", "", "invalid_json"],
  ["a cut text", '{"a":"b', "invalid_json"],
  ["two texts", "{}{}", "invalid_json"],
  ["a comment", "{/**/}", "invalid_json"],
  ["a byte order mark", "\uFEFF{}", "invalid_json"],
  ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0x22]), "invalid_json"],
  ["65 levels", nested(65), "json_too_deep"],
  ["65 levels of objects", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, "json_too_deep"],
  ["a number beyond the doubles", '{"t":[1e999]}', "invalid_value"],
  ["__proto__", '{"a":[{"__proto__":{}}]}', "invalid_value"],
  ["__proto__, spelt with an escape", '{"\\u005f_proto__":1}', "invalid_value"],
  ["constructor.prototype", '{"constructor":{"prototype":{"x":1}}}', "invalid_value"],
  ["10,001 keys", `[${Array.from({ length: 10_001 }, (_, at) => `{"k":${at}}`).join()}]`, "too_many_keys"],
];

test("texts out of bounds are refused by the bound they break", () => {
  for (const [name, body, code] of REFUSED) {
    assert.throws(() => parseJson(Buffer.from(body)), refusal(code), name);
  }
});

test("64 levels, 10,000 keys and a constructor that is no prototype are accepted", () => {
  assert.ok(parseJson(Buffer.from(nested(64))));
  const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]));
  assert.deepEqual(parseJson(Buffer.from(JSON.stringify(keys))), keys);
  assert.ok(parseJson(Buffer.from('{"constructor":{"name":"x"}}')));
});

test("the depth of a large text is bounded at the same level", () => {
  const filler = JSON.stringify("y".repeat(20_000));
  const text = (depth: number) => Buffer.from(`[${filler},${nested(depth - 1)},${filler}]`);
  assert.ok(parseJson(text(64)));
  assert.throws(() => parseJson(text(65)), refusal("json_too_deep"));
});

test("a refusal names the position and does not quote the body", () => {
  assert.throws(
    () => parseJson(Buffer.from('{"key":"sk-secret",]')),
    (error: Error) => /at character 19/.test(error.message) && !error.message.includes("secret"),
  );
});

test("eight million levels are refused at once", () => {
  const body = Buffer.alloc(8 * 1024 * 1024, "[");
  const began = performance.now();
  assert.throws(() => parseJson(body), refusal("json_too_deep"));
  assert.ok(performance.now() - began < 500);
});

test("only objects are objects", () => {
  for (const value of [null, [], "x", 1, true]) {
    assert.throws(() => requireObject(value), refusal("invalid_type"));
  }
  assert.throws(() => requireObject(undefined), refusal("missing_required_parameter"));
  assert.deepEqual(requireObject({ a: 1 }), { a: 1 });
});

const post = (headers: Record<string, string>, payload: string | Buffer = CHAT) => ({
  method: "POST" as const,
  url: "/v1/chat/completions",
  headers: { authorization: "Bearer client-key", ...headers },
  payload,
});

test("only application/json in UTF-8 and without a content encoding is read", async () => {
  const { app } = createEdge();
  const accepted = [
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
  ];
  for (const type of accepted) {
    const { statusCode, body } = await app.inject(post({ "content-type": type }));
    assert.equal(statusCode, 200, `${type}: ${body}`);
  }
  const refused = [
    "text/plain",
    "application/jsonx",
    "application/json, text/plain",
    "application/json;",
    "application/json; charset=utf-16",
    "application/json; a=b",
    "application/x-www-form-urlencoded",
    "constructor",
  ];
  for (const type of refused) {
    const answer = await app.inject(post({ "content-type": type }));
    assert.equal(answer.statusCode, 415, type);
    assert.equal(answer.json().error.code, "unsupported_media_type", type);
  }
  const zipped = await app.inject(post({ "content-type": "application/json", "content-encoding": "gzip" }));
  assert.equal(zipped.statusCode, 415);
});

test("the route gets the bytes beside the value", async () => {
  const { app } = createEdge();
  const answer = await app.inject(post({ "content-type": "application/json" }, ` ${CHAT}\n`));
  assert.equal(answer.json().bytes, CHAT.length + 2);
});

test("a DELETE with a content type and no body is accepted, a POST is not", async () => {
  const { app } = createEdge();
  const headers = { authorization: "Bearer admin-key", "content-type": "application/json" };
  const deletion = await app.inject({ method: "DELETE", url: "/tools/a", headers });
  assert.equal(deletion.statusCode, 200);
  const creation = await app.inject({ method: "POST", url: "/tools", headers });
  assert.equal(creation.json().error.code, "invalid_json");
});
