import { JsonParser } from "../../core/json/parser.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import { refusalMessage, type ToolMessage } from "../results/results.ts";
import type { Run } from "../run-state.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import { type CallResult, judge, type PlannedCall } from "./planned-call.ts";
import { runPlanned } from "./run-call.ts";

/** Calls that run beside each other at most. */
const CONCURRENCY = 8;

/**
 * Judges and runs the gateway's calls of one round.
 *
 * 1. Every call gets exactly one message, in the model's order, whatever became of it.
 * 2. Calls run one after the other in the model's order; neighbours that are all `parallel_safe` run at the same time.
 * 3. The same call twice in a round runs once.
 * 4. After the client has left, or the time of the phase is over, no further call is begun and reads are aborted; a write that
 *    has begun ends by itself.
 * 5. A tool's policy may end the run: then what runs beside it ends by itself, and no further call is begun.
 * 6. In a dry run nothing is sent: a call that may run is answered with its arguments.
 */
export async function executeCalls(run: Run, calls: readonly ToolCall[]): Promise<CallResult[]> {
  run.answer.flush();
  const planned: PlannedCall[] = [];
  for (const call of calls) planned.push(await judge(run, call));
  throwFatal(planned);
  answerDuplicates(run, planned);
  const deadline = new AbortController();
  const phaseMs = run.toolsPhaseMs();
  const endsAt = performance.now() + phaseMs;
  const phase = { signal: deadline.signal, remainingMs: () => endsAt - performance.now() };
  const timer = setTimeout(() => deadline.abort(new Error("tools phase")), phaseMs);
  const onGone = () => deadline.abort(run.signal.reason);
  run.signal.addEventListener("abort", onGone);
  try {
    for (const batch of batches(planned)) {
      run.signal.throwIfAborted();
      await Promise.all(batch.map((call) => runPlanned(run, call, phase)));
      throwFatal(batch);
    }
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener("abort", onGone);
  }
  run.signal.throwIfAborted();
  return planned.map(({ call, args, result }) => ({
    ...(result as CallResult),
    call: { ...call, raw: historyArguments(call.raw, args) },
  }));
}

/** Ends the run where the policy of a tool wants it; what was begun beside that call has ended. */
function throwFatal(planned: readonly PlannedCall[]): void {
  const failed = planned.find(({ fatal }) => fatal !== undefined);
  if (failed?.fatal) throw failed.fatal;
}

/** The same call again, in this round or a later one, is answered from what is known. */
function answerDuplicates(run: Run, planned: readonly PlannedCall[]): void {
  const first = new Map<string, PlannedCall>();
  for (const entry of planned) {
    if (entry.result) continue;
    const twin = first.get(entry.key);
    if (twin) {
      settleKnown(run, entry, "duplicate", CALL_TEXTS[run.locale].duplicate(twin.call.id));
      continue;
    }
    first.set(entry.key, entry);
    const known = run.knownResult(entry.key);
    if (known) settleKnown(run, entry, "known", CALL_TEXTS[run.locale].repeated, known);
  }
}

function settleKnown(
  run: Run,
  entry: PlannedCall,
  outcome: "duplicate" | "known",
  sentence: string,
  known?: ToolMessage,
): void {
  const { call, record } = entry;
  record.outcome = outcome;
  const message = known
    ? run.repeated(known, call.id, sentence)
    : refusalMessage(call, "duplicate_call", sentence);
  entry.result = { call, message, refused: undefined };
  if (known) run.answer.progress({ type: "loop.guard", ...run.names(call) });
  run.summarise(call, { ok: message.ok, cached: outcome === "known", attempts: 0, duration_ms: 0 });
}

function* batches(planned: readonly PlannedCall[]): Generator<PlannedCall[]> {
  let batch: PlannedCall[] = [];
  for (const entry of planned) {
    if (entry.result) continue;
    const together = entry.tool?.definition.parallel_safe === true && batch.length < CONCURRENCY;
    if (batch.length > 0 && !(together && batch[0]?.tool?.definition.parallel_safe)) {
      yield batch;
      batch = [];
    }
    batch.push(entry);
  }
  if (batch.length > 0) yield batch;
}

/** A tool message as it goes upstream. */
export function toChatMessage({ role, tool_call_id, content }: ToolMessage): ChatMessage {
  return { role, tool_call_id, content };
}

/**
 * The argument text of a call as it stands in the history: as the model wrote it where that is an object, since some upstreams
 * read it again; else the object that came of it, or the text inside one.
 */
function historyArguments(raw: string, args: JsonObject | undefined): string {
  const parser = new JsonParser({ maxLength: raw.length });
  parser.push(raw);
  if (raw.trimStart().startsWith("{") && parser.status === "complete") return raw;
  if (args) return stringifyJson(args);
  return raw.trim() === "" ? "{}" : JSON.stringify({ unparsed_arguments: raw });
}
