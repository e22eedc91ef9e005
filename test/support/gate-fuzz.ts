import assert from "node:assert/strict";
import fc from "fast-check";
import type { ToolCall } from "../../src/core/protocol/accumulator.ts";
import { compileSchema } from "../../src/core/schema/compile-schema.ts";
import type { CompiledSchema } from "../../src/core/schema/compiled-schema.ts";
import { SchemaRejected } from "../../src/core/schema/schema-rejected.ts";
import type { Passage } from "../../src/engine/gates/gate.ts";
import { newAccumulator } from "../core/protocol/gather.ts";
import { changesOf, judgeCall, judgeText } from "../data-suites/judge.ts";
import { type GateCase, gateCases } from "./gate-cases.ts";

/** Milliseconds of processor time that one case may take, its schema compiled and both ways gone. */
const MAX_MS = 250;
/** Characters of arguments; some cases have more. */
const MAX_LENGTH = 20_000;

/** How often what happened, by kind of case and outcome. */
export type FuzzCounts = Record<string, number>;

/**
 * Sends generated calls through the gates for `seconds`, each once in fragments as a stream brings them and once whole.
 *
 * 1. Both ways come to the same verdicts, arguments and messages, and the parser reports the same values on the way. Only a text
 *    that is no JSON may be read otherwise in fragments: as snapshots, of which the last alone counts.
 * 2. What is valid passes untouched; what is coercible passes. What passes has the value that was meant, where that is known.
 * 3. Nothing throws, and no case takes longer than `MAX_MS`.
 *
 * Throws the smallest case found where this does not hold.
 */
export function fuzzGates(seconds: number, seed = Date.now()): { counts: FuzzCounts; slowestMs: number } {
  const counts: FuzzCounts = {};
  let slowestMs = 0;
  const property = fc.property(gateCases, (one) => {
    const { outcome, ms } = timed(one);
    slowestMs = Math.max(slowestMs, ms);
    assert.ok(ms < MAX_MS, `${ms} ms`);
    const key = `${one.kind}: ${outcome}`;
    counts[key] = (counts[key] ?? 0) + 1;
  });
  timed({ kind: "valid", schema: { type: "object" }, text: "{}", sizes: [1] });
  const interruptAfterTimeLimit = seconds * 1_000;
  fc.assert(property, { numRuns: 1e8, seed, interruptAfterTimeLimit, markInterruptAsFailure: false });
  return { counts, slowestMs };
}

/** A case is tried again when it takes long: the time of a collection of garbage, or of compiling a function, is not its own. */
function timed(one: GateCase): { outcome: string; ms: number } {
  const tries = [attempt(one)];
  while (tries.length < 3 && tries.every(({ ms }) => ms >= MAX_MS)) tries.push(attempt(one));
  return tries.at(-1) ?? { outcome: "", ms: 0 };
}

function attempt(one: GateCase): { outcome: string; ms: number } {
  const before = process.threadCpuUsage();
  const outcome = outcomeOf(one);
  const { user, system } = process.threadCpuUsage(before);
  return { outcome, ms: (user + system) / 1_000 };
}

function outcomeOf(one: GateCase): string {
  const schema = compiled(one);
  if (schema === undefined) return "schema rejected";
  const streamed = read(fragmentsOf(one));
  const whole = read([one.text]);
  // Beyond the limit the parser may stop at the piece before it; the call is refused as too long anyway.
  if (!whole.call.tooLong) assert.deepEqual(streamed.parsed, whole.parsed);
  const passage = judgeCall(streamed.call, schema);
  if (streamed.call.reading === whole.call.reading) {
    assert.deepEqual(streamed.call, whole.call);
    assert.deepEqual(passage, judgeCall(whole.call, schema));
  } else {
    assert.equal(streamed.call.reading, "snapshot");
    assert.deepEqual(passage, judgeText(streamed.call.raw, schema));
  }
  return `${nameOutcome(one, passage)}${streamed.call.reading === "plain" ? "" : `, ${streamed.call.reading}`}`;
}

function nameOutcome({ kind, text, value }: GateCase, passage: Passage): string {
  const { refusal, verdicts } = passage;
  const changes = changesOf(passage);
  const isKnown = text.length <= MAX_LENGTH && (kind === "valid" || kind === "coercible");
  if (isKnown) assert.equal(refusal, undefined);
  if (isKnown && kind === "valid") assert.deepEqual(changes, []);
  if (isKnown && kind === "coercible") assert.ok(changes.length > 0);
  if (refusal) {
    assert.ok(refusal.feedback.length > 0 && refusal.feedback.isWellFormed());
    return `refused by ${refusal.gate}`;
  }
  if (value !== undefined) assert.deepEqual(passage.args, value);
  const isRepaired = verdicts.some((verdict) => verdict.pass && verdict.repairs !== undefined);
  return (
    [isRepaired ? "repaired" : "", changes.length > 0 ? "coerced" : ""].filter(Boolean).join(", ") || "passed"
  );
}

function compiled({ schema }: GateCase): CompiledSchema | undefined {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (error instanceof SchemaRejected) return undefined;
    throw error;
  }
}

function fragmentsOf({ text, sizes }: GateCase): string[] {
  const fragments: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    fragments.push(text.slice(at, at + size));
    at += size;
  }
  return fragments;
}

/** The call that comes of the fragments, and what its parser came to. A parser that has failed stays as it is. */
function read(fragments: readonly string[]): { call: ToolCall; parsed: unknown } {
  const accumulator = newAccumulator(MAX_LENGTH);
  const piece = {
    index: 0,
    id: undefined,
    name: undefined,
    text: "",
    kind: "function",
    extra: undefined,
    place: 0,
  } as const;
  const open = accumulator.push({ ...piece, id: "c1", name: "t" });
  let error: unknown;
  for (const text of fragments) {
    accumulator.push({ ...piece, text });
    if (error !== undefined) assert.deepEqual(open.parser.error, error);
    error = open.parser.error;
  }
  const [call, ...others] = accumulator.finish();
  assert.ok(call && others.length === 0);
  const { status, value, firstValue, completeAt } = open.parser;
  return { call, parsed: { status, value, firstValue, completeAt, error: open.parser.error } };
}
