import assert from "node:assert/strict";
import { test } from "node:test";
import { TextTemplate } from "../../../src/core/protocol/text-template.ts";

const event = (text: string, rest = "") =>
  `data: {"id":"up","choices":[{"delta":{"content":"${text}"}}]${rest}}\n\n`;
const frame = (text: string) => `data: {"id":"mine","choices":[{"delta":{"content":"${text}"}}]}\n\n`;

function learn(raw: string, written = frame("a"), member = "content"): TextTemplate {
  const template = TextTemplate.learn(Buffer.from(raw), written, member);
  assert.ok(template);
  return template;
}

/** What a template writes for an event, or `undefined` where it does not match. */
function rewritten(template: TextTemplate, raw: string | Buffer): string | undefined {
  const bytes = Buffer.from(raw);
  const end = template.match(bytes, 0);
  if (end < 0) return undefined;
  assert.equal(end, bytes.length);
  return `${template.head}${bytes.subarray(template.textFrom, template.textTo)}${template.tail}`;
}

test("an event of the learned shape is written with its own text", () => {
  const template = learn(event("a"));
  for (const text of ["b", "é🌍", '\\"', "\\\\", "\\ud83d", "\\u00E9\\/", "}]}\\n\\n"]) {
    assert.equal(rewritten(template, event(text)), frame(text));
  }
});

test("an event that the client gets as it is may pass unchanged", () => {
  assert.equal(learn(event("a"), event("a")).verbatim, true);
  assert.equal(learn(event("a"), frame("a")).verbatim, false);
  assert.equal(learn(event("\\u0061"), event("a")).verbatim, false);
});

for (const [name, raw] of [
  ["an empty text", event("")],
  ["another member value", event("b").replace('"up"', '"uq"')],
  ["a further member", event("b", ',"usage":{"total_tokens":1}')],
  ["a further member behind the text", event('b","refusal":"c')],
  ["a finish reason", event('b"},"finish_reason":"stop')],
  ["a raw control character", event("b\tc")],
  ["a raw line end in the text", event("b\nc")],
  ["an escape that JSON does not know", event("\\x41")],
  ["a cut escape", event("\\u12")],
  ["an escape of no hexadecimal digits", event("\\u00zz")],
  ["a quote that is not escaped", event('b"c')],
  ["an event that is not all there", event("b").slice(0, -1)],
  ["a text that is not all there", event("b").slice(0, 48)],
  ["nothing", ""],
]) {
  test(`${name} is not of the learned shape`, () =>
    assert.equal(rewritten(learn(event("a")), `${raw}`), undefined));
}

test("a match begins where it is told to and says where the event ends", () => {
  const template = learn(event("a"));
  const bytes = Buffer.from(`${event("one")}${event("two")}data: [DONE]\n\n`);
  const first = template.match(bytes, 0);
  const second = template.match(bytes, first);
  assert.equal(bytes.toString("utf8", template.textFrom, template.textTo), "two");
  assert.equal(second, 2 * event("one").length);
  assert.equal(template.match(bytes, second), -1);
  assert.equal(template.match(bytes, 1), -1);
});

test("padding may differ, before the text and behind it", () => {
  for (const [before, behind] of [
    ['{"obfuscation":"xy","c":{"content":"a"}}', '{"obfuscation":"","c":{"content":"b"}}'],
    ['{"c":{"content":"a"},"obfuscation":"xy"}', '{"c":{"content":"b"},"obfuscation":"a\\"b"}'],
  ] as const) {
    const template = learn(`data: ${before}\n\n`);
    assert.equal(rewritten(template, `data: ${behind}\n\n`), frame("b"));
    assert.equal(rewritten(template, `data: ${behind.replace('"b"', '""')}\n\n`), undefined);
  }
});

test("every line end and every spacing can be learned", () => {
  for (const end of ["\n\n", "\r\n\r\n", "\r\r"]) {
    for (const prefix of ["data:", "data: "]) {
      const spell = (text: string) => `${prefix}{"c": {"content": "${text}"}}${end}`;
      assert.equal(rewritten(learn(spell("a")), spell("b")), frame("b"));
    }
  }
});

for (const [name, raw, written] of [
  ["the key stands twice", '{"content":"x","c":{"content":"a"}}', undefined],
  ["the key is escaped", '{"c":{"c\\u006fntent":"a"}}', undefined],
  ["another string is escaped", '{"m":"\\"","c":{"content":"a"}}', undefined],
  ["the text is no string", '{"c":{"content":["a"]}}', undefined],
  ["the key is followed by a space", '{"c":{"content" :"a"}}', undefined],
  ["the frame has the key twice", '{"c":{"content":"a"}}', 'data: {"content":"a","c":{"content":"a"}}\n\n'],
  ["the frame lost the text", '{"c":{"content":"a"}}', "data: {}\n\n"],
] as [string, string, string | undefined][]) {
  test(`nothing is learned where ${name}`, () => {
    const learned = TextTemplate.learn(Buffer.from(`data: ${raw}\n\n`), written ?? frame("a"), "content");
    assert.equal(learned, undefined);
  });
}

test("nothing is learned from an event of several lines, of other fields, or with another end", () => {
  const data = '{"c":{"content":"a"}}';
  for (const raw of [
    `data: ${data}\ndata: \n\n`,
    `event: x\ndata: ${data}\n\n`,
    `: hi\ndata: ${data}\n\n`,
    `data: ${data}\n`,
    `data: ${data}\r\n\n`,
    `\ndata: ${data}\n\n`,
    `data : ${data}\n\n`,
  ]) {
    assert.equal(TextTemplate.learn(Buffer.from(raw), frame("a"), "content"), undefined, JSON.stringify(raw));
  }
});
