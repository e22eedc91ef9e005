import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ToolDefinition } from "../../../src/core/tool.ts";
import type { ToolReply } from "../../../src/engine/ports/tools.ts";
import { refusalMessage, toToolMessage } from "../../../src/engine/results/results.ts";
import { toolOf } from "../../outbound/tool-fixture.ts";

const call = { id: "c1", name: "t" };

function messageFor(
  body: string | Buffer,
  contentType = "application/json",
  limits: { max_bytes?: number; cut?: boolean } = {},
) {
  const { max_bytes = 16_384, cut = false } = limits;
  const reply: ToolReply = {
    status: 200,
    contentType,
    body: Buffer.from(body),
    truncated: cut,
    retryAfterMs: undefined,
  };
  const tool: ToolDefinition = toolOf({}, { result: { max_bytes, overflow: "truncate" } });
  return toToolMessage(call, { reply, attempts: 1, durationMs: 1 }, tool, { locale: "en" });
}

const dataOf = (...args: Parameters<typeof messageFor>): unknown =>
  JSON.parse(messageFor(...args).content).data;

test("a result is the whole envelope as JSON text", () => {
  assert.deepEqual(messageFor('{"a": [1, null]}'), {
    role: "tool",
    tool_call_id: "c1",
    content: '{"tool_call_id":"c1","tool_name":"t","success":true,"data":{"a":[1,null]},"error":null}',
    ok: true,
    data: { a: [1, null] },
  });
});

test("integers keep every digit", () => {
  const body = '{"id":12345678901234567890,"data":{"x":-9007199254740993}}';
  assert.ok(messageFor(body).content.includes(`"data":${body},`));
});

for (const [name, body, type, data] of [
  ["JSON by its content", '[{"a":1}]', "text/plain", [{ a: 1 }]],
  ["a JSON scalar by its type", "42", "application/json; charset=utf-8", 42],
  ["a problem type", '{"a":1}', "application/problem+json", { a: 1 }],
  ["text that looks like a number", "42", "text/plain", "42"],
  ["broken JSON stays text", '{"a":', "application/json", '{"a":'],
  ["an empty body", "", "application/json", "(no output)"],
  ["white space only", " \n", "text/plain", "(no output)"],
  ["a byte order mark is dropped", "\ufeff[1]", "application/json", [1]],
  ["Latin-1", Buffer.from([0xe9]), "text/plain; charset=ISO-8859-1", "é"],
  ["an unknown charset", Buffer.from([0x61, 0xe9]), 'text/plain; charset="x-none"', "a\ufffd"],
  ["UTF-16", Buffer.from("é", "utf16le"), "text/plain;charset=utf-16le", "é"],
  ["an image", Buffer.alloc(300_000), "image/png", "[image/png, 300 kB, not shown]"],
  ["text with NUL", "a\0b", "text/plain", "[text/plain, 3 B, not shown]"],
  ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe]), "", "[unknown type, 2 B, not shown]"],
  ["octets", "abc", "application/octet-stream", "[application/octet-stream, 3 B, not shown]"],
] as [string, string | Buffer, string, unknown][]) {
  test(`data: ${name}`, () => assert.deepEqual(dataOf(body, type), data));
}

for (const [name, body, data] of [
  ["its data is the result", { success: true, data: { a: 1 }, error: null }, { a: 1 }],
  ["null stays null", { success: true, data: null }, null],
  ["other members are kept", { success: true, data: [1], total: 9 }, { data: [1], total: 9 }],
  [
    "members without data are the result",
    { success: true, error: null, temperature: 21 },
    { temperature: 21 },
  ],
  ["nothing but success", { success: true }, "(no output)"],
  ["success that is no boolean is not an envelope", { success: "yes", data: 1 }, { success: "yes", data: 1 }],
] as const) {
  test(`an envelope of the tool: ${name}`, () => assert.deepEqual(dataOf(JSON.stringify(body)), data));
}

test("an envelope that says no is a business error with its data", () => {
  const body = { success: false, data: { left: 2 }, error: { code: 7, message: "Sold out." } };
  const { content, ok, errorKind } = messageFor(JSON.stringify(body));
  assert.deepEqual([ok, errorKind], [false, "business"]);
  const { success, data, error } = JSON.parse(content);
  assert.deepEqual([success, data], [false, { left: 2 }]);
  assert.match(error, /^The tool reported an error: Sold out\. Do not repeat the call unchanged/);
});

test("what is too long is cut at a character and says how much is missing", () => {
  const data = dataOf("é".repeat(60), "text/plain", { max_bytes: 101 });
  assert.equal(data, `${"é".repeat(50)}… [truncated: 20 bytes are missing after the first 100]`);
  assert.match(String(dataOf("1,2", "text/plain", { cut: true })), /^1,2… \[truncated: an unknown number/);
  assert.equal(dataOf("é".repeat(5), "text/plain", { max_bytes: 10 }), "ééééé");
});

test("JSON that is too long stays JSON, with a note of what is missing", () => {
  const items = Array.from({ length: 100 }, (_, id) => ({ id, text: "x".repeat(20) }));
  const { data, note } = JSON.parse(
    messageFor(JSON.stringify({ total: 100, items }), undefined, { max_bytes: 1_000 }).content,
  );
  assert.equal(data.total, 100);
  assert.deepEqual(data.items, items.slice(0, data.items.length));
  const shown = JSON.stringify(data).length;
  const whole = JSON.stringify({ total: 100, items }).length;
  assert.equal(
    note,
    `The data is shortened to ${shown} of ${whole} bytes. Missing are: last items of items: ${100 - data.items.length} of 100.`,
  );
});

test("a note names few places, and says how many there are", () => {
  const rows = Array.from({ length: 9 }, () => ({ ["long name ".repeat(20)]: "x".repeat(400) }));
  const { note } = JSON.parse(messageFor(JSON.stringify(rows), undefined, { max_bytes: 3_000 }).content);
  assert.match(note, /And so in \d more places\.$/);
  assert.ok(note.length < 1_000);
});

test("whatever a tool answers, the content is well-formed JSON of bounded size", () => {
  const type = fc.constantFrom(
    "application/json",
    "text/plain",
    "text/html; charset=gb18030",
    "image/gif",
    "",
  );
  const text = fc.string({ unit: "binary" }).map((value) => Buffer.from(value));
  const body = fc.oneof(fc.json().map(Buffer.from), text, fc.uint8Array().map(Buffer.from));
  fc.assert(
    fc.property(body, type, fc.integer({ min: 1, max: 60 }), fc.boolean(), (bytes, label, max_bytes, cut) => {
      const { content } = messageFor(bytes, label, { max_bytes, cut });
      const { note = "", ...envelope } = JSON.parse(content);
      assert.deepEqual(Object.keys(envelope), ["tool_call_id", "tool_name", "success", "data", "error"]);
      assert.ok(content.isWellFormed() && !content.includes("\0"));
      assert.ok(Buffer.byteLength(content) < 300 + max_bytes + Buffer.byteLength(note));
      assert.ok(Buffer.byteLength(note) < 1_000);
    }),
    { numRuns: 2000 },
  );
});

test("a call that was not run has the same envelope", () => {
  const said = refusalMessage({ id: "c2", name: "gone" }, "unknown_tool", 'There is no tool "gone".');
  assert.deepEqual(said, {
    role: "tool",
    tool_call_id: "c2",
    content:
      '{"tool_call_id":"c2","tool_name":"gone","success":false,"data":null,"error":"There is no tool \\"gone\\"."}',
    ok: false,
    errorKind: "unknown_tool",
  });
});
