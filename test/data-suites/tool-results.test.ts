/** Results of tools in recorded conversations of an agent, shown in part, stored and read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSelect } from "../../src/core/jmespath/compile-select.ts";
import { readStored } from "../../src/engine/results/read-stored.ts";
import { toToolMessage } from "../../src/engine/results/results.ts";
import { toolOf } from "../outbound/tool-fixture.ts";
import { toolReply } from "../support/engine.ts";
import { sharedRows, skipWithout } from "./shared-rows.ts";

const PATH = "data/tools/tau_bench_gpt4o_airline_trajectories.jsonl.gz";

interface Conversation {
  messages: { role: string; content?: string | null }[];
}

/** Stand-ins where the data is not there. */
const OWN = [
  JSON.stringify({
    reservation_id: "AB12CD",
    flights: [
      { number: "HAT001", price: 101 },
      { number: "HAT002", price: 99 },
    ],
  }),
  JSON.stringify(
    Array.from({ length: 40 }, (_, at) => ({ flight: `HAT${at}`, seats: { economy: at, business: 2 * at } })),
  ),
  "Error: user not found",
  "19.99",
];

const rows = sharedRows<Conversation>(PATH);
const recorded = (rows ?? []).flatMap(({ messages }) =>
  messages.flatMap(({ role, content }) => (role === "tool" && content ? [content] : [])),
);

for (const [name, results, skip] of [
  ["own samples", OWN, false],
  ["recorded results", [...new Set(recorded)], skipWithout(rows, PATH)],
] as const) {
  test(`${name}: a part of a result is a part, a stored one is read to its end`, { skip }, (t) => {
    let shortened = 0;
    for (const text of results) {
      for (const max_bytes of [100, 400, 2_000]) if (isShortened(text, max_bytes)) shortened++;
      readToEnd(text, 600);
      selectFirst(text);
    }
    t.diagnostic(`${results.length} results, ${shortened} times shown in part`);
    assert.ok(shortened > 0);
  });
}

function isShortened(text: string, max_bytes: number): boolean {
  const tool = toolOf({}, { result: { max_bytes, overflow: "truncate" } });
  const reply = toolReply(null, { body: Buffer.from(text), contentType: "text/plain" });
  const outcome = { reply, attempts: 1, durationMs: 1 };
  const { content } = toToolMessage({ id: "c", name: "t" }, outcome, tool, { locale: "en" });
  const { data, note } = JSON.parse(content);
  const isJson = /^\s*[[{]/.test(text);
  if (isJson) assert.equal(typeof data, "object");
  assert.ok(Buffer.byteLength(content) < max_bytes + 900, `${content.length} of ${max_bytes}`);
  if (note === undefined && isJson) assert.deepEqual(data, JSON.parse(text));
  return note !== undefined;
}

/** Reads an array or a text page by page, and anything else at once. */
function readToEnd(text: string, room: number): void {
  const kind = /^\s*[[{]/.test(text) ? "json" : "text";
  const items: unknown[] = [];
  let read = "";
  let offset: number | undefined = 0;
  let pages = 0;
  while (offset !== undefined) {
    const said = readStored({ kind, text }, { offset }, room, "en");
    assert.ok("members" in said);
    const page: Record<string, unknown> = Object.fromEntries(
      said.members.map(([member, json]) => [member, JSON.parse(json)]),
    );
    if (Array.isArray(page["items"])) items.push(...page["items"]);
    read += page["text"] ?? "";
    offset = page["next_offset"] as number | undefined;
    assert.ok(++pages <= text.length);
  }
  if (kind === "text") assert.equal(read, text);
  else if (Array.isArray(JSON.parse(text))) assert.equal(items.length, JSON.parse(text).length);
}

function selectFirst(text: string): void {
  if (!/^\s*\{/.test(text)) return;
  const value = JSON.parse(text);
  for (const member of Object.keys(value).slice(0, 3)) {
    const said = compileSelect(JSON.stringify(member))(value);
    assert.ok("found" in said);
    assert.deepEqual(said.found, value[member] ?? null);
  }
}
