import { JsonParser } from "../../core/json/parser.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import { askForApprovals } from "../approvals/park.ts";
import { tooManyCalls } from "../gates/context.ts";
import type { PlanStep } from "../plan/plan.ts";
import { planRound, refuseByPlan } from "../plan/plan-round.ts";
import { resolve } from "../plan/resolve.ts";
import { schedule, type Task } from "../plan/schedule.ts";
import { refusalMessage, type ToolMessage } from "../results/results.ts";
import type { Run } from "../run-state.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import { dependsOnSession } from "./gate-context.ts";
import { repeated } from "./loop-watch.ts";
import { type CallResult, judge, openCall, type PlannedCall, refuse } from "./planned-call.ts";
import { type Phase, runPlanned } from "./run-call.ts";

/**
 * Judges and runs the gateway's calls of one round.
 *
 * 1. Every call gets exactly one message, in the model's order, whatever became of it.
 * 2. A call runs when the calls that it refers to have, and with their results in its arguments. Beyond that calls run one after the
 *    other in the model's order; neighbours that are all `parallel_safe` run at the same time.
 * 3. The same call twice in a round runs once.
 * 4. After the client has left, or the time of the phase is over, no further call is begun and reads are aborted; a write that
 *    has begun ends by itself.
 * 5. A tool's policy may end the run: then what runs beside it ends by itself, and no further call is begun.
 * 6. A call that a person has to approve is not run: it is asked about when the others have their results.
 * 7. In a dry run nothing is sent: a call that may run is answered with its arguments.
 */
export async function executeCalls(run: Run, calls: readonly ToolCall[]): Promise<CallResult[]> {
  run.answer.flush();
  const planned = calls.map((call) => openCall(run, call));
  const plan = planRound(run, planned);
  if (planned.some(({ tool }) => tool && dependsOnSession(tool))) await run.session.refresh();
  const twins = new Map<string, PlannedCall>();
  for (const [at, entry] of planned.entries()) if (!isLate(planned, plan, at)) await admit(run, entry, twins);
  throwFatal(planned);
  await runPhase(run, (phase) =>
    schedule(
      tasksOf(planned, plan),
      run.deps.limits.parallel_calls,
      (at) => perform(run, at, { planned, plan, phase, twins }),
      () => run.signal.aborted || planned.some(({ fatal }) => fatal !== undefined),
    ),
  );
  throwFatal(planned);
  run.signal.throwIfAborted();
  watchLoop(run, planned);
  await askForApprovals(run, planned);
  return planned.map(({ call, args, result }) => ({
    ...(result as CallResult),
    call: { ...call, raw: historyArguments(call.raw, args) },
  }));
}

/**
 * Whether a call is judged only when its turn comes: what it refers to is there only then, or what earlier calls write into the state that
 * it asks for. So is a later call of the same tool, since the earlier one may turn out to be the same and is the one that runs.
 */
function isLate(planned: readonly PlannedCall[], plan: readonly PlanStep[], at: number): boolean {
  if (at > 0 && asksState(planned[at])) return true;
  const { tool } = planned[at] ?? {};
  return plan
    .slice(0, at + 1)
    .some((step, before) => step.references.length > 0 && planned[before]?.tool === tool);
}

const asksState = (entry: PlannedCall | undefined): boolean =>
  entry?.tool?.stateRules.hasPreconditions === true;

/** Rounds that repeat themselves end the run; the client is told at the call with which they have. */
function watchLoop(run: Run, planned: readonly PlannedCall[]): void {
  const calls = planned.flatMap(({ call, key, result }) => {
    if (!result) return [];
    const { message, refused } = result;
    // What another call has failed for was not judged: it is what the model wrote, and comes again with that call.
    const isJudged = refused?.problem !== "dependency";
    return [{ key: isJudged ? key : `${call.name} ${call.raw}`, message, isRefused: isJudged && !!refused }];
  });
  const last = planned.at(-1);
  if (!run.loops.roundEnded(calls) || !last) return;
  run.scope.looped("cycle");
  run.answer.progress({ type: "loop.guard", ...run.names(last.call) });
}

/** Gives the work the time that all calls of a round have together. */
async function runPhase(run: Run, work: (phase: Phase) => Promise<void>): Promise<void> {
  const deadline = new AbortController();
  const phaseMs = run.toolsPhaseMs();
  const endsAt = performance.now() + phaseMs;
  const timer = setTimeout(() => deadline.abort(new Error("tools phase")), phaseMs);
  const onGone = () => deadline.abort(run.signal.reason);
  run.signal.addEventListener("abort", onGone);
  try {
    await work({ signal: deadline.signal, remainingMs: () => endsAt - performance.now() });
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener("abort", onGone);
  }
}

/** Where a twin is, its result is needed too. */
function tasksOf(planned: readonly PlannedCall[], plan: readonly PlanStep[]): Task[] {
  return planned.map((entry, at) => ({
    alone: !entry.result && (!entry.tool?.definition.parallel_safe || asksState(entry)),
    needs: () =>
      (plan[at]?.needs ?? []).flatMap((needed) => {
        const twin = planned[needed]?.twin;
        return twin ? [needed, planned.indexOf(twin)] : [needed];
      }),
  }));
}

interface Round {
  planned: readonly PlannedCall[];
  plan: readonly PlanStep[];
  phase: Phase;
  twins: Map<string, PlannedCall>;
}

/** Brings one call to its result, now that what it needs is there. */
async function perform(run: Run, at: number, { planned, plan, phase, twins }: Round): Promise<void> {
  const entry = planned[at];
  if (!entry || entry.result) return;
  const step = plan[at];
  if (step && step.references.length > 0) {
    const resolved = resolve(entry, step, planned);
    if ("fault" in resolved) {
      refuseByPlan(run, entry, resolved.fault);
      return;
    }
    await admit(run, entry, twins, resolved.fill);
  } else if (isLate(planned, plan, at)) await admit(run, entry, twins);
  if (entry.fatal || entry.result) return;
  await runPlanned(run, entry, phase);
}

/** Ends the run where the policy of a tool wants it; what was begun beside that call has ended. */
function throwFatal(planned: readonly PlannedCall[]): void {
  const failed = planned.find(({ fatal }) => fatal !== undefined);
  if (failed?.fatal) throw failed.fatal;
}

/** Judges a call. Afterwards it may run, or has its result; only what may run counts as a call of its tool. */
async function admit(
  run: Run,
  entry: PlannedCall,
  twins: Map<string, PlannedCall>,
  fill?: (value: JsonValue) => JsonValue,
): Promise<void> {
  await judge(run, entry, (key) => twins.has(key) || run.loops.has(key), fill);
  answerDuplicate(run, entry, twins);
  if (entry.result || !entry.tool || !entry.args || run.takeCallOf(entry.tool)) return;
  refuse(run, entry, { gate: "context", ...tooManyCalls(entry.tool, run.locale) });
}

/** The same call again, in this round or a later one, is answered from what is known. */
function answerDuplicate(run: Run, entry: PlannedCall, twins: Map<string, PlannedCall>): void {
  if (entry.result || !entry.args) return;
  const twin = twins.get(entry.key);
  if (twin) {
    entry.twin = twin;
    settleKnown(run, entry, "duplicate", CALL_TEXTS[run.locale].duplicate(twin.call.id));
    return;
  }
  twins.set(entry.key, entry);
  const known = run.loops.known(entry.key);
  if (known) settleKnown(run, entry, "known", CALL_TEXTS[run.locale].repeated, known);
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
    ? repeated(known, call.id, sentence)
    : refusalMessage(call, "duplicate_call", sentence);
  entry.result = { call, message, refused: undefined };
  if (known) {
    run.scope.looped("call");
    run.answer.progress({ type: "loop.guard", ...run.names(call) });
  }
  run.summarise(call, { ok: message.ok, cached: outcome === "known", attempts: 0, duration_ms: 0 });
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
