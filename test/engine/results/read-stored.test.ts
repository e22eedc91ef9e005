import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ReadArguments, readStored } from "../../../src/engine/results/read-stored.ts";

function read(kind: "json" | "text", text: string, args: ReadArguments, room = 1_000) {
  const said = readStored({ kind, text }, args, room, "en");
  if ("fault" in said) return said;
  const json = `{${said.members.map(([name, value]) => `"${name}":${value}`).join(",")}}`;
  return { json, ...JSON.parse(json) };
}

const ITEMS = Array.from({ length: 100 }, (_, id) => ({ id, name: `name ${id}`, tags: ["red", "Blue"] }));
const WHOLE = JSON.stringify({ total: 100, items: ITEMS, big: 0 }).replace(
  '"big":0',
  '"big":12345678901234567890',
);

test("an object is shown as far as there is room", () => {
  const { type, value, missing } = read("json", WHOLE, {});
  assert.equal(type, "object with 3 members");
  assert.equal(value.total, 100);
  assert.deepEqual(missing, [{ path: "items", what: "items", missing: 100 - value.items.length, of: 100 }]);
});

test("a path picks a part, as JMESPath or as a pointer", () => {
  assert.equal(read("json", WHOLE, { path: "items[7].name" }).text, "name 7");
  assert.equal(read("json", WHOLE, { path: "/items/7/name" }).text, "name 7");
  assert.match(read("json", WHOLE, { path: "big" }).json, /"value":12345678901234567890/);
  assert.match(read("json", WHOLE, { path: "/big" }).json, /"value":12345678901234567890/);
  assert.deepEqual(read("json", WHOLE, { path: "items[?id > `97`].name" }).items, ["name 98", "name 99"]);
});

test("arrays are read page by page, each as full as there is room", () => {
  const seen: unknown[] = [];
  let offset: number | undefined = 0;
  let pages = 0;
  while (offset !== undefined) {
    const page: { json: string; items: unknown[]; next_offset?: number } = read("json", WHOLE, {
      path: "items",
      offset,
    });
    assert.ok(page.json.length < 1_100);
    seen.push(...page.items);
    offset = page.next_offset;
    pages++;
  }
  assert.deepEqual(seen, ITEMS);
  assert.ok(pages > 3 && pages < 10);
  assert.deepEqual(read("json", WHOLE, { path: "items", offset: 5, limit: 1 }).items, [ITEMS[5]]);
});

test("an item that is too long alone is shown in part, and the next page is another one", () => {
  const text = JSON.stringify([{ text: "x".repeat(5_000) }, 1]);
  const page = read("json", text, {});
  assert.equal(page.items.length, 1);
  assert.equal(page.missing[0].path, "text");
  assert.equal(page.next_offset, 1);
  assert.deepEqual(read("json", text, { offset: 1 }).items, [1]);
});

test("text is read on by characters", () => {
  const text = "line \u{1f600}\n".repeat(500);
  let seen = "";
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page: { text: string; next_offset?: number } = read("text", text, { offset });
    seen += page.text;
    offset = page.next_offset;
  }
  assert.equal(seen, text);
  assert.equal(read("text", text, { offset: 5, limit: 2 }).text, "\u{1f600}");
});

test("a search in text says where, and what is around it", () => {
  const text = `${"a".repeat(300)}Needle${"b".repeat(300)}needle`;
  const { places, found } = read("text", text, { search: "NEEDLE" });
  assert.equal(places, 2);
  assert.deepEqual(
    found.map(({ offset }: { offset: number }) => offset),
    [300, 606],
  );
  assert.match(found[0].text, /^…a{100}Needleb{100}…$/);
  assert.deepEqual(read("text", text, { search: "(" }).found, []);
});

test("a search in JSON says at which paths", () => {
  const { places, found, next_offset } = read("json", WHOLE, { search: "blue", limit: 2 });
  assert.equal(places, 100);
  assert.deepEqual(found, [
    { path: "items[0].tags[1]", text: "Blue" },
    { path: "items[1].tags[1]", text: "Blue" },
  ]);
  assert.equal(next_offset, 2);
  assert.equal(read("json", WHOLE, { search: "blue", offset: 99 }).found.length, 1);
  assert.deepEqual(read("json", WHOLE, { path: "items[3]", search: "name" }).found[0].path, "name");
  assert.equal(read("json", WHOLE, { search: "1234567890123" }).found[0].path, "big");
});

for (const [name, kind, text, args, fault] of [
  [
    "a path in text",
    "text",
    "abc",
    { path: "a" },
    "This result is text and has no paths. Read it with offset, or search in it.",
  ],
  [
    "a path to nothing",
    "json",
    '{"a":1}',
    { path: "b" },
    'There is nothing at the path "b". The result has the members "a".',
  ],
  [
    "a pointer to nothing",
    "json",
    '{"a":1}',
    { path: "/constructor" },
    'There is nothing at the path "/constructor". The result has the members "a".',
  ],
  [
    "a broken path",
    "json",
    '{"a":1}',
    { path: "a[" },
    "The path cannot be used: it is not valid JMESPath, at position 2.",
  ],
  [
    "a path that does not fit",
    "json",
    '{"a":1}',
    { path: "sort(a)" },
    'The path cannot be used: "sort" takes no number as argument 1.',
  ],
  ["an offset behind the end", "json", "[1]", { offset: 1 }, "The offset is behind the end: there are 1."],
  ["an offset behind the text", "text", "ab", { offset: 9 }, "The offset is behind the end: there are 2."],
] as const) {
  test(`told to the model: ${name}`, () => assert.deepEqual(read(kind, text, args), { fault }));
}

test("whatever is asked, the answer is JSON within the room", () => {
  const args = fc.record(
    {
      path: fc.constantFrom("items", "items[*].tags", "/items/3", "keys(@)", "[", "to_string(@)"),
      search: fc.oneof(fc.constantFrom("name", "e", "Blue"), fc.string({ minLength: 1, maxLength: 5 })),
      offset: fc.nat(200),
      limit: fc.integer({ min: 1, max: 50 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      args,
      fc.constantFrom("json", "text"),
      fc.integer({ min: 200, max: 3_000 }),
      (asked, kind, room) => {
        const said = read(kind, WHOLE, asked, room);
        if ("json" in said)
          assert.ok(Buffer.byteLength(said.json) < room + 500, `${said.json.length} of ${room}`);
        else assert.notEqual(said.fault, "");
      },
    ),
  );
});
