import assert from "node:assert/strict";
import { test } from "node:test";
import { createSnapshot } from "../../src/engine/registry/tool-snapshot.ts";
import { type CallRecord, RunBook, type RunRecord } from "../../src/engine/run-record.ts";
import { callStream, textStream } from "../support/chunks.ts";
import { play, toolNamed } from "../support/engine.ts";
import { perform } from "../support/perform.ts";
import { fakeTarget } from "../support/upstream.ts";

const TOOLS = createSnapshot(1, []);
const ENDED = "2026-01-01T00:00:00.000Z";

function record(run_id: string, raw = ""): RunRecord {
  const call = { raw, gates: [] } as unknown as CallRecord;
  const rounds = [{ round: 1, calls: [call] }] as unknown as RunRecord["rounds"];
  return { run_id, rounds, ended_at: null } as RunRecord;
}

/** Puts finished runs into a book and says which are still there. */
function kept(book: RunBook, ...records: RunRecord[]): string[] {
  for (const one of records) {
    book.add("app", one, TOOLS);
    one.ended_at = ENDED;
    book.changed(one.run_id);
  }
  return records.flatMap(({ run_id }) => (book.get(run_id, undefined) ? [run_id] : []));
}

test("a record is found by its own caller and by whoever may see all", () => {
  const book = new RunBook();
  const entry = record("r1");
  book.add("app", entry, TOOLS);
  assert.equal(book.get("r1", "app")?.record, entry);
  assert.equal(book.get("r1", undefined)?.tools, TOOLS);
  assert.equal(book.get("r1", "other"), undefined);
  assert.equal(book.get("r2", "app"), undefined);
});

test("the oldest run makes room when there are too many, or too many bytes", () => {
  const three = () => ["a", "b", "c"].map((id) => record(id, "x".repeat(10_000)));
  assert.deepEqual(kept(new RunBook({ runs: 2 }), ...three()), ["b", "c"]);
  assert.deepEqual(kept(new RunBook({ bytes: 50_000 }), ...three()), ["b", "c"]);
  assert.deepEqual(kept(new RunBook({ bytes: 100_000 }), ...three()), ["a", "b", "c"]);
  assert.deepEqual(kept(new RunBook({ bytes: 1_000 }), ...three()), [], "not even one fits");
});

test("what was changed in the arguments counts, and a run that was changed again counts once", () => {
  const changed = record("a");
  const verdict = { gate: "schema", pass: true, changes: [{ path: "", from: "x".repeat(30_000), to: 1n }] };
  Object.assign(changed.rounds[0]?.calls[0] ?? {}, { gates: [verdict] });
  assert.deepEqual(kept(new RunBook({ bytes: 50_000 }), changed, record("b")), ["b"]);
  const book = new RunBook({ bytes: 50_000 });
  const one = record("c", "x".repeat(10_000));
  kept(book, one);
  for (let times = 0; times < 5; times++) book.changed("c");
  assert.deepEqual([...kept(book, record("d")), book.get("c", undefined)?.record], ["d", one]);
});

test("what the model thought counts too", () => {
  const thoughtful = record("a");
  Object.assign(thoughtful.rounds[0] ?? {}, { thought: "x".repeat(30_000) });
  assert.deepEqual(kept(new RunBook({ bytes: 50_000 }), thoughtful, record("b")), ["b"]);
});

test("the record keeps 65,536 characters of a thought", async () => {
  const thought = "x".repeat(65_537);
  const said = `{"thought": "${thought}", "tool_name": "get_weather", "arguments": {"city": "a"}}`;
  const target = fakeTarget([textStream(said), textStream("x")], { protocol: "tool_call_hook" });
  const { run } = await play({ targets: [target], tools: [toolNamed("get_weather")] });
  assert.deepEqual(
    run.record.rounds.map((round) => round.thought),
    [thought.slice(1), undefined],
  );
});

test("a run that goes on stays, and its watchers are called after every change", () => {
  const book = new RunBook({ bytes: 10_000 });
  const open = record("open");
  book.add("app", open, TOOLS);
  kept(book, record("a", "x".repeat(9_000)), record("b"));
  assert.equal(book.get("open", "app")?.record, open);
  let calls = 0;
  const unwatch = book.watch("open", () => calls++);
  book.changed("open");
  unwatch();
  book.changed("open");
  book.changed("nobody");
  assert.equal(calls, 1);
});

test("the record keeps 65,536 characters of an argument text, and says when there was more", async () => {
  const args = (length: number) => `{"city":"${"\ud800".repeat(length - 11)}"}`;
  const replies = [1, 2].map((n) =>
    callStream({ id: `c${n}`, name: "get_weather", args: args(n === 1 ? 65_536 : 65_537) }),
  );
  const { run } = await perform([...replies, textStream("x")]);
  const [fits, cut] = run.record.rounds.flatMap(({ calls }) => calls);
  assert.deepEqual([fits?.raw, fits?.raw_cut], [args(65_536), undefined]);
  assert.deepEqual([cut?.raw, cut?.raw_cut], [args(65_537).slice(0, 65_536), true]);
});
