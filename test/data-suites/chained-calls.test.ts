import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../src/core/json/value.ts";
import { planCalls } from "../../src/engine/plan/plan.ts";
import { callStream, textStream } from "../support/chunks.ts";
import { fakeTransport, play, toolNamed, toolReply } from "../support/engine.ts";
import { fakeTarget } from "../support/upstream.ts";
import { type Chain, nestfulChain, sealChain, withField } from "./chained-calls.ts";
import { sharedRows, skipWithout } from "./shared-rows.ts";

const NESTFUL = "data/tools/nestful.jsonl.gz";
const SEAL = "data/tools/seal_tools_cases.jsonl.gz";
const nestful = sharedRows<Parameters<typeof nestfulChain>[0]>(NESTFUL)?.map(nestfulChain);
const seal = sharedRows<Parameters<typeof sealChain>[0]>(SEAL)?.flatMap((row) => sealChain(row) ?? []);

/** The edges that the plan has of those that there are; a faulty message must be refused. */
function edgesIn({ id, calls, edges, faulty }: Chain): number {
  const plan = planCalls(calls, () => "unknown");
  assert.equal(
    plan.some(({ fault }) => fault !== undefined),
    faulty,
    id,
  );
  const references = plan.reduce((sum, step) => sum + step.references.length, 0);
  // Its labels do not say which call is meant.
  if (faulty) return references;
  const needed = new Set(plan.flatMap(({ needs }, to) => needs.map((from) => `${from} ${to}`)));
  const expected = new Set(edges.map(({ from, to }) => `${from} ${to}`));
  assert.deepEqual([...needed].sort(), [...expected].sort(), id);
  return references;
}

test("NESTFUL: all 435 references build the right graph", { skip: skipWithout(nestful, NESTFUL) }, () => {
  const chains = nestful ?? [];
  const edges = chains.reduce((sum, chain) => sum + edgesIn(chain), 0);
  assert.deepEqual([edges, chains.filter(({ faulty }) => faulty).length], [435, 3]);
});

test("Seal-Tools: all 104 references build the right graph", { skip: skipWithout(seal, SEAL) }, () => {
  const chains = seal ?? [];
  const edges = chains.reduce((sum, chain) => sum + edgesIn(chain), 0);
  assert.deepEqual([edges, chains.filter(({ faulty }) => faulty).length], [104, 1]);
});

/** What a call returns: a text of its own at every field that others refer to. */
function answerOf({ edges }: Chain, at: number): JsonObject {
  const own = edges.filter(({ from }) => from === at);
  return own.reduce<JsonObject>((data, { field }) => withField(data, field, `<${at} ${field}>`), {});
}

/** Runs a message and checks that each call got what it refers to, after the call that brought it. */
async function run(chain: Chain): Promise<void> {
  const { id, calls, edges } = chain;
  const ended: number[] = [];
  const position = new Map(calls.map((_, at) => [`c${at}`, at]));
  const transport = fakeTransport(async ({ attempt, args }) => {
    const at = position.get(attempt.callId) ?? -1;
    for (const { from, to, field, param } of edges) {
      if (to !== at) continue;
      assert.ok(ended.includes(from), `${id}: ${from} before ${at}`);
      assert.ok(JSON.stringify(args).includes(`<${from} ${field}>`), `${id}: ${param}`);
    }
    await sleep(at % 3);
    ended.push(at);
    return toolReply(answerOf(chain, at));
  });
  const tools = [...new Set(calls.map(({ name }) => name))].map((name) =>
    toolNamed(name, { parameters: { type: "object", additionalProperties: true }, parallel_safe: true }),
  );
  const message = callStream(
    ...calls.map(({ name, args }, at) => ({ id: `c${at}`, name, args: JSON.stringify(args) })),
  );
  await play({
    tools,
    transport,
    targets: [fakeTarget([message, textStream("Done.")])],
    limits: { tool_calls: 100 },
  });
  assert.equal(ended.length, calls.length, `${id}: every call ran`);
}

for (const [name, chains, path] of [
  ["NESTFUL", nestful, NESTFUL],
  ["Seal-Tools", seal, SEAL],
] as const) {
  test(`${name}: chained calls run in the right order with each other's results`, {
    skip: skipWithout(chains, path),
  }, async (t) => {
    const sound = (chains ?? []).filter(({ faulty, calls }) => !faulty && isDistinct(calls));
    for (const chain of sound) await run(chain);
    t.diagnostic(`${sound.length} messages`);
    assert.ok(sound.length > 80);
  });
}

/** The same call twice in a message runs once; such messages of the data are about the graph only. */
function isDistinct(calls: Chain["calls"]): boolean {
  return new Set(calls.map((call) => JSON.stringify(call))).size === calls.length;
}
