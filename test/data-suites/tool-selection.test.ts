import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatMessage } from "../../src/core/protocol/wire.ts";
import { createSnapshot, type RegisteredTool } from "../../src/engine/registry/tool-snapshot.ts";
import { selectTools } from "../../src/engine/selection/select.ts";
import { ToolIndex } from "../../src/engine/selection/tool-index.ts";
import { toolNamed } from "../support/engine.ts";
import { sharedRows, skipWithout } from "./shared-rows.ts";

const PATH = "data/tools/bfcl.jsonl.gz";

interface Declared {
  function: { name: string; description: string; parameters: object };
}

interface Row {
  id: string;
  category: string;
  messages: ChatMessage[];
  tools: Declared[];
  expected_calls: { name: string }[] | null;
}

/** Tools that are registered at the same time, and the questions that are asked of them. */
interface Batch {
  tools: Map<string, string>;
  rows: Row[];
}

const POOL = 500;
const rows = sharedRows<Row>(PATH);

/** Distributes the questions so that each finds its own tools among 500, of which no two have one name. */
function batchesOf(questions: readonly Row[]): Batch[] {
  const batches: Batch[] = [];
  for (const row of questions) {
    const texts = row.tools.map((tool): [string, string] => [
      tool.function.name,
      JSON.stringify(tool.function),
    ]);
    const fits = ({ tools }: Batch) =>
      tools.size + texts.length <= POOL && texts.every(([name, text]) => (tools.get(name) ?? text) === text);
    let batch = batches.find(fits);
    if (!batch) {
      batch = { tools: new Map(), rows: [] };
      batches.push(batch);
    }
    for (const [name, text] of texts) batch.tools.set(name, text);
    batch.rows.push(row);
  }
  const all = questions.flatMap(({ tools }) => tools);
  for (const [nth, { tools }] of batches.entries()) {
    for (let at = 0; tools.size < POOL && at < all.length; at++) {
      const { function: extra } = all[(at * 7_919 + nth) % all.length] as Declared;
      if (!tools.has(extra.name)) tools.set(extra.name, JSON.stringify(extra));
    }
  }
  return batches;
}

function register(text: string): RegisteredTool[] {
  const { name, description, parameters } = JSON.parse(text);
  try {
    return [toolNamed(name, { description, parameters })];
  } catch {
    // Parameters that contradict themselves: what is read of them here is there without the schema's faults.
    return [
      toolNamed(name, {
        description: `${description} ${Object.keys(parameters.properties ?? {}).join(" ")}`,
        parameters: {},
      }),
    ];
  }
}

interface Tally {
  calls: number;
  offered: number;
  ms: number[];
}

async function play({ tools, rows: questions }: Batch, tally: Tally): Promise<void> {
  const snapshot = createSnapshot(1, [...tools.values()].flatMap(register));
  assert.equal(snapshot.names.length, POOL);
  const index = new ToolIndex();
  await index.update(snapshot);
  for (const { messages, expected_calls: expected } of questions) {
    const from = performance.now();
    const selection = selectTools({ model: "m", messages }, snapshot.list(), index, { max: 10, used: [] });
    tally.ms.push(performance.now() - from);
    const names = new Set(selection.tools.map(({ definition }) => definition.name));
    for (const { name } of expected ?? []) {
      tally.calls++;
      if (names.has(name)) tally.offered++;
    }
  }
}

test("of 500 tools the right one is among the ten offered", { skip: skipWithout(rows, PATH) }, async (t) => {
  const questions = (rows ?? []).filter(
    ({ messages, expected_calls }) =>
      expected_calls?.length && messages.filter(({ role }) => role === "user").length === 1,
  );
  const tally: Tally = { calls: 0, offered: 0, ms: [] };
  for (const batch of batchesOf(questions)) await play(batch, tally);
  const share = (100 * tally.offered) / tally.calls;
  const ms = tally.ms.toSorted((a, b) => a - b);
  const at = (part: number) => (ms[Math.floor(part * ms.length)] ?? 0).toFixed(2);
  t.diagnostic(
    `${share.toFixed(1)} % of ${tally.calls} calls; ${at(0.5)} ms in the middle, ${at(0.99)} ms at 99 %`,
  );
  assert.equal(tally.calls, 3_152);
  assert.ok(share >= 90);
  assert.ok(Number(at(0.5)) < 5);
});
