import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JsonParser } from "../../src/core/json/parser.ts";
import type { JsonObject } from "../../src/core/json/value.ts";
import type { ToolHttp } from "../../src/core/tool.ts";
import { renderToolRequest } from "../../src/core/tool-template.ts";
import { toolOf } from "../outbound/tool-fixture.ts";

const secret = (name: string) => (name === "KEY" ? "s3cret" : undefined);
const render = (http: Partial<ToolHttp>, args: JsonObject) => renderToolRequest(toolOf(http), args, secret);
const HOST = "https://api.example.com";

for (const [name, http, args, url] of [
  [
    "a path parameter is one segment",
    { url: `${HOST}/u/{id}/x` },
    { id: "a/b ?#ü" },
    "/u/a%2Fb%20%3F%23%C3%BC/x",
  ],
  ["the URL's own query is filled in", { url: `${HOST}/?q={q}&k=1` }, { q: "a&b=c" }, "/?q=a%26b%3Dc&k=1"],
  ["query values are encoded", { query: { q: "<{q}>" } }, { q: "+" }, "/?q=%3C%2B%3E"],
  [
    "entries of absent arguments are left out",
    { query: { a: "{a}", b: "x{b}", c: "1" } },
    { a: null },
    "/?c=1",
  ],
  ["a list repeats its key", { query: { id: "{ids}" } }, { ids: [1, "b"] }, "/?id=1&id=b"],
  ["an object is JSON text", { query: { f: "{f}" } }, { f: { a: [1] } }, "/?f=%7B%22a%22%3A%5B1%5D%7D"],
  [
    "GET: the rest goes into the query",
    { url: `${HOST}/{a}` },
    { a: 1, b: 2n ** 64n, c: null },
    "/1?b=18446744073709551616",
  ],
  ["DELETE: the rest goes into the query", { method: "DELETE" }, { b: true }, "/?b=true"],
  ["body none: the rest is dropped", { body: "none" }, { b: true }, "/"],
  ["names may be in any script", { url: `${HOST}/{城市}` }, { 城市: "x" }, "/x"],
] as [string, Partial<ToolHttp>, JsonObject, string][]) {
  test(name, () => {
    const request = render({ url: `${HOST}/`, ...http }, args);
    assert.equal(request.url, HOST + url);
    assert.equal(request.body, undefined);
  });
}

test("a JSON body holds the arguments that stand nowhere else, digit for digit", () => {
  const http = { method: "POST", url: `${HOST}/{id}`, headers: { "X-Lang": "{lang}" } } as const;
  const args = JSON.parse('{"id":"7","lang":"en","__proto__":1}') as JsonObject;
  const request = render(http, { ...args, big: 12345678901234567890n, none: null });
  assert.equal(request.body, '{"__proto__":1,"big":12345678901234567890,"none":null}');
  assert.deepEqual(request.headers, { "content-type": "application/json", "x-lang": "en" });
  assert.equal(render({ method: "POST", url: HOST }, {}).body, "{}");
});

test("a form body repeats the key of a list and writes objects as JSON", () => {
  const request = render({ method: "POST", url: HOST, body: "form" }, { a: ["x y", 2], o: { k: "&" } });
  assert.equal(request.body, "a=x%20y&a=2&o=%7B%22k%22%3A%22%26%22%7D");
  assert.equal(request.headers["content-type"], "application/x-www-form-urlencoded");
});

test("secrets are filled in in headers, and never out of an argument", () => {
  const headers = { authorization: `Bearer \${secret:KEY}`, "x-note": "{note}", "x-gone": "a {gone}" };
  const request = render({ url: HOST, headers }, { note: `\${secret:KEY}` });
  assert.deepEqual(request.headers, { authorization: "Bearer s3cret", "x-note": `\${secret:KEY}` });
  assert.throws(() => render({ url: HOST, headers: { a: `\${secret:OTHER}` } }, {}), {
    problem: "secret",
    parameter: "OTHER",
    message: /"OTHER"/,
  });
});

for (const [name, http, args, problem, parameter] of [
  ["an absent path argument", { url: `${HOST}/{id}` }, {}, "missing", "id"],
  ["an inherited property", { url: `${HOST}/{toString}` }, {}, "missing", "toString"],
  ["one of two arguments of an entry", { query: { at: "{x},{y}" } }, { x: 1 }, "missing", "y"],
  ["an empty segment", { url: `${HOST}/{id}/x` }, { id: "" }, "segment", "id"],
  ["a dot segment", { url: `${HOST}/a/{id}` }, { id: ".." }, "segment", "id"],
  ["a dot segment of two parts", { url: `${HOST}/a/.{id}` }, { id: "." }, "segment", "id"],
  ["a dot segment of an encoded part", { url: `${HOST}/a/%2E{id}` }, { id: "." }, "segment", "id"],
  ["a line break in a header", { headers: { a: "{h}" } }, { h: "x\r\ny: z" }, "header", "h"],
  ["a header beyond Latin-1", { headers: { a: "{h}" } }, { h: "三" }, "header", "h"],
  ["a long header", { headers: { a: "{h}" } }, { h: "x".repeat(4097) }, "header", "h"],
  ["a parameter in the host", { url: "https://{h}.example.com/" }, { h: "x" }, "definition", ""],
  ["a secret in the URL", { url: `${HOST}/\${secret:KEY}` }, {}, "secret", "KEY"],
] as [string, Partial<ToolHttp>, JsonObject, string, string][]) {
  test(`refused: ${name}`, () => {
    assert.throws(() => render({ url: HOST, ...http }, args), { name: "TemplateError", problem, parameter });
  });
}

test("no argument changes the structure of the request", () => {
  const http = {
    url: `${HOST}/a/{p}/b-{p}?own={q}`,
    query: { k: "<{q}>", m: "{p}{q}" },
    headers: { "x-h": "v {p}" },
  };
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(..."./\\%2eE?#&=@:\r\n{}$") }),
  );
  const value = fc.oneof(text, fc.double(), fc.bigInt(), fc.boolean());
  let rendered = 0;
  fc.assert(
    fc.property(value, value, (p, q) => {
      let request: ReturnType<typeof render>;
      try {
        request = render(http, { p, q } as JsonObject);
      } catch (error) {
        return error instanceof Error && error.name === "TemplateError";
      }
      rendered++;
      const url = new URL(request.url);
      assert.equal(url.origin + url.username + url.hash, HOST);
      assert.match(url.pathname, /^\/a\/[^/]+\/b-[^/]+$/);
      assert.deepEqual([...url.searchParams.keys()], ["own", "k", "m"]);
      assert.deepEqual(Object.keys(request.headers), ["x-h"]);
      return !/[\r\n\0]/.test(String(request.headers["x-h"]));
    }),
    { numRuns: 5000 },
  );
  assert.ok(rendered > 500);
});

test("numbers that a double does not hold go out as they were written, in every place", () => {
  const parser = new JsonParser();
  parser.push('{"p":1e400,"q":-0,"h":0.1e-400,"list":[1e400,1],"rest":1e400,"more":[1e400]}');
  const args = parser.value as JsonObject;
  const http = { url: `${HOST}/{p}`, query: { q: "{q}", l: "{list}" }, headers: { "x-h": "{h}" } };
  const posted = render({ ...http, method: "POST" }, args);
  assert.equal(posted.url, `${HOST}/1e400?q=-0&l=1e400&l=1`);
  assert.equal(posted.headers["x-h"], "0.1e-400");
  assert.equal(posted.body, '{"rest":1e400,"more":[1e400]}');
  const form = render({ ...http, method: "POST", body: "form" }, args);
  assert.equal(form.body, "rest=1e400&more=1e400");
});
