import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";
import { checkEndpoint } from "../../src/core/tool-endpoint.ts";
import { renderToolRequest, TemplateError } from "../../src/core/tool-template.ts";

const DECLARED = new Set(["city", "größe"]);
const allowAll = () => undefined;

function check(part: { url?: string; query?: Record<string, string>; headers?: Record<string, string> }) {
  const http = { url: "https://api.example.com/", query: {}, headers: {}, ...part };
  return checkEndpoint(http, DECLARED, allowAll);
}

test("absolute http and https URLs with parameters in path and query pass", () => {
  const good = [
    "https://api.example.com",
    "HTTP://API.example.com:8080/a/b?x=1",
    "http://127.0.0.1:9000/x",
    "http://[::1]:9000/x",
    "https://api.example.com/{city}/now?size={größe}&again={city}",
    "https://bücher.example/ä",
  ];
  for (const url of good) assert.deepEqual(check({ url }), [], url);
});

test("a URL that is not absolute http, or hides something, is refused", () => {
  const bad = [
    "",
    "/x",
    "//api.example.com/",
    "ftp://api.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://",
    "https:///x",
    "https:api.example.com",
    "https://user:pw@api.example.com/",
    "https://api.example.com@evil.example/",
    "https://api.example.com\\@evil.example/",
    "https://api.example.com/#part",
    " https://api.example.com/",
    "https://api.example.com/a b",
    "https://api.exa\tmple.com/",
    "https://api.example.com/\r\nx",
    "https://api.example.com:99999/",
    "https://[::1/",
    `https://api.example.com/\${secret:KEY}`,
  ];
  for (const url of bad) {
    assert.deepEqual(
      check({ url }).map(({ reason, path }) => [reason, path]),
      [["url_not_allowed", "http.url"]],
      JSON.stringify(url),
    );
  }
});

test("scheme, host and port are constants", () => {
  const bad = [
    "https://{city}.example.com/",
    "https://api.example.com:{city}/",
    "https://{city}@x/",
    "https://{city}",
  ];
  for (const url of bad) assert.equal(check({ url })[0]?.reason, "template_not_allowed", url);
  assert.notDeepEqual(check({ url: "{city}" }), []);
  assert.notDeepEqual(check({ url: "{city}://api.example.com/" }), []);
});

test("a placeholder is a declared property, in URL, query and headers", () => {
  const templates = ["{nobody}", "{{city}}", "{city", "city}", "{}", "{ city }", "{toString}", '{"a":1}'];
  for (const template of templates) {
    for (const part of [{ query: { q: template } }, { headers: { "x-a": template } }]) {
      assert.equal(check(part)[0]?.reason, "template_not_allowed", template);
    }
  }
  assert.match(check({ url: "https://api.example.com/{nobody}" })[0]?.message ?? "", /\{nobody\}/);
  assert.deepEqual(check({ query: { q: "a {city} b" }, headers: { "x-city": "{city}/{größe}" } }), []);
});

test("secrets stand in header values only, under a name in capitals", () => {
  const secret = `Bearer \${secret:WEATHER_KEY2}`;
  assert.deepEqual(check({ headers: { authorization: secret } }), []);
  assert.equal(check({ query: { key: secret } })[0]?.reason, "secret_ref_not_allowed");
  for (const name of ["lower", "", "__proto__", "9A", "A-B", "A B"]) {
    const value = `\${secret:${name}}`;
    assert.equal(check({ headers: { "x-a": value } })[0]?.reason, "secret_ref_not_allowed", name);
  }
  assert.equal(check({ headers: { "x-a": `\${env:PATH}` } })[0]?.reason, "secret_ref_not_allowed");
});

test("headers cannot break a line, frame the request or speak for the gateway", () => {
  const names = [
    ...["x y", "", "x:y", "ä", "x\r\ny"],
    ...["Host", "content-length", "Connection", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Expect"],
    ...["Proxy-Authorization", "Idempotency-Key", "traceparent", "X-Toolweir-Run-Id", "Metadata-Flavor"],
  ];
  for (const name of names) {
    assert.equal(check({ headers: { [name]: "1" } })[0]?.reason, "header_not_allowed", JSON.stringify(name));
  }
  for (const value of ["1\r\nx-b: 2", "a\nb", "a\0b", "日本", "\x7f"]) {
    assert.equal(
      check({ headers: { "x-a": value } })[0]?.reason,
      "header_not_allowed",
      JSON.stringify(value),
    );
  }
  assert.equal(check({ headers: { "X-A": "1", "x-a": "2" } }).length, 1);
  assert.deepEqual(check({ headers: { "content-type": "application/vnd.api+json", "x-é": "1" } }).length, 1);
});

test("the network policy has the last word and sees the real host", () => {
  const seen: string[] = [];
  const http = { url: "http://127.1:9000/{city}?q={city}", query: {}, headers: {} };
  const faults = checkEndpoint(http, DECLARED, (url) => {
    seen.push(url.href);
    return "A private address.";
  });
  assert.deepEqual(seen, ["http://127.0.0.1:9000/x?q=x"]);
  assert.deepEqual(faults, [{ reason: "url_not_allowed", path: "http.url", message: "A private address." }]);
});

test("what passes can be rendered, and arguments never change where it goes", () => {
  const piece = fc.constantFrom(
    "/",
    "a",
    "{city}",
    "{größe}",
    "?",
    "&q=",
    "=",
    "%2e",
    ".",
    "{",
    "}",
    "$",
    ":",
    "@",
    "#",
  );
  const url = fc.array(piece, { maxLength: 8 }).map((pieces) => `https://api.example.com${pieces.join("")}`);
  fc.assert(
    fc.property(url, fc.string({ minLength: 1 }), (template, city) => {
      if (check({ url: template }).length > 0) return;
      const { definition } = checkToolDefinition({
        name: "t",
        level: "read",
        parameters: { type: "object", properties: { city: { type: "string" }, größe: { type: "string" } } },
        http: { method: "GET", url: template },
      });
      try {
        const request = renderToolRequest(
          { ...definition, version: 1 },
          { city, größe: "5" },
          () => undefined,
        );
        assert.equal(new URL(request.url).origin, new URL(template.replaceAll(/\{.*?\}/g, "x")).origin);
      } catch (error) {
        assert.ok(error instanceof TemplateError && error.problem === "segment", String(error));
      }
    }),
  );
});
