import { keepSpelling } from "../core/json/spelling.ts";
import type { JsonObject, JsonPath, JsonValue } from "../core/json/value.ts";
import type { OpenCall, ToolCall } from "../core/protocol/accumulator.ts";
import { addUsage } from "../core/protocol/visible.ts";
import type { ChatMessage, ChatRequest, FinishReason, Usage } from "../core/protocol/wire.ts";
import type {
  Answer,
  Ending,
  PendingApproval,
  RunSummary,
  StopReason,
  ToolSummary,
} from "./answer/answer.ts";
import type { RunSpend } from "./budgets/run-spend.ts";
import { Corrections } from "./calls/corrections.ts";
import { LoopWatch } from "./calls/loop-watch.ts";
import type { TurnOwner } from "./kept-turns.ts";
import { type LimitState, runOver } from "./limits.ts";
import type { Caller, Offer } from "./offer.ts";
import type { RunScope } from "./ports/telemetry.ts";
import type { RatedCaller } from "./rates/rates.ts";
import type { RegisteredTool, ToolSnapshot } from "./registry/tool-snapshot.ts";
import { HopelessCalls } from "./reply/hopeless-calls.ts";
import type { ResultOwner } from "./results/stored-results.ts";
import { keptStart, newCall, newRecord, newRound } from "./run-journal.ts";
import type { ApprovalMode, EngineDeps, RunOptions, RunWatch } from "./run-options.ts";
import type { CallRecord, RoundRecord, RunRecord } from "./run-record.ts";
import type { RunSession } from "./sessions/run-session.ts";

/** One run: what is fixed when it begins, and what grows while it goes on. */
export class Run {
  readonly id: string;
  readonly sessionId: string;
  readonly isSessionNamed: boolean;
  readonly session: RunSession;
  readonly spend: RunSpend | undefined;
  readonly mayShare: boolean;
  readonly caller: Caller;
  readonly request: ChatRequest;
  readonly raw: Buffer;
  readonly authorization: string | undefined;
  readonly tools: ToolSnapshot;
  /** Grows when a tool is offered that the run began without. */
  offer: Offer;
  readonly answer: Answer;
  readonly scope: RunScope;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
  readonly watch: RunWatch | undefined;
  readonly approvalMode: ApprovalMode;
  readonly isResumed: boolean;
  readonly toolsHeader: string | undefined;
  readonly deps: EngineDeps;
  readonly locale: "en" | "zh";
  readonly record: RunRecord;
  readonly onRecord: () => void;
  readonly callsOfTool = new Map<string, number>();
  readonly corrections: Corrections;
  readonly loops = new LoopWatch();
  readonly limits: LimitState;
  readonly hopeless: HopelessCalls;
  messages: ChatMessage[];
  /** Of text in the conversation, at most. */
  conversationBytes: number;
  round = 0;
  usage: Usage | undefined;
  /** The model has been asked to complete a call that was cut off. */
  continued = false;
  /** A tool that may change something was asked: results of others may be from before that. */
  wrote = false;
  /** Calls that wait for a person. */
  pending: readonly PendingApproval[] = [];
  /** Set when the next round is the last one. */
  lastRound: StopReason | undefined;
  readonly #startedAt: number;
  readonly #usages: (Usage | null)[] = [];
  readonly #tools: ToolSummary[] = [];
  /** Ids of calls in the conversation, from the first time that one is asked for. */
  #ids: Set<string> | undefined;

  constructor(deps: EngineDeps, options: RunOptions) {
    this.deps = deps;
    this.locale = deps.locale;
    this.id = options.id;
    this.sessionId = options.sessionId;
    this.isSessionNamed = options.isSessionNamed;
    this.session = options.session;
    this.spend = options.spend;
    this.mayShare = options.mayShare;
    this.caller = options.caller;
    this.request = options.request;
    this.raw = options.raw;
    this.authorization = options.authorization;
    this.tools = options.tools;
    this.offer = options.offer;
    this.answer = options.answer;
    this.scope = options.scope;
    this.signal = options.signal;
    this.dryRun = options.dryRun;
    this.watch = options.watch;
    this.approvalMode = options.approvalMode;
    this.isResumed = options.isResumed;
    this.toolsHeader = options.toolsHeader;
    this.onRecord = options.onRecord;
    this.messages = options.request.messages;
    this.conversationBytes = options.raw.length;
    this.hopeless = new HopelessCalls(deps.locale, deps.cancelEarly);
    this.#startedAt = deps.now();
    this.corrections = new Corrections(deps.limits.corrections, (outcome) =>
      this.scope.correctionEnded(outcome),
    );
    this.limits = {
      rounds: 0,
      toolCalls: 0,
      elapsedMs: () => deps.now() - this.#startedAt,
      corrections: this.corrections,
      loops: this.loops,
      isBudgetSpent: () => this.spend?.spent !== undefined,
    };
    this.record = newRecord(options, this.#startedAt);
  }

  get user(): string | undefined {
    return this.caller.user ?? this.request.user ?? undefined;
  }

  /** Whose conversation this is, as far as the request tells. */
  get owner(): TurnOwner {
    return { caller: this.caller.name, user: this.user };
  }

  /** Whose limits concern this run. */
  get rated(): RatedCaller {
    const session = this.isSessionNamed ? this.sessionId : undefined;
    return { caller: this.caller.name, user: this.user, session };
  }

  /** Whose the results are that this run stores and reads. */
  get resultOwner(): ResultOwner {
    const session = this.isSessionNamed ? this.sessionId : undefined;
    return { caller: this.caller.name, user: this.user, session };
  }

  /** The provider's id where it is still free in this conversation, else a new one. */
  nextCallId(wireId: string | undefined): string {
    this.#ids ??= new Set(
      this.messages.flatMap((message) => (message.tool_calls ?? []).map((call) => String(call.id))),
    );
    const id = wireId !== undefined && !this.#ids.has(wireId) ? wireId : this.deps.newId("call_");
    this.#ids.add(id);
    return id;
  }

  /** A call of this name is coming. */
  callBegun(name: string): void {
    const tool = this.lastRound || this.dryRun ? undefined : this.offer.gateway.get(name);
    if (tool && !tool.local) this.deps.transport.warm?.(tool.definition);
  }

  /** A value in the arguments of a gateway call is complete: each parameter is told to the client, and any hopeless value. */
  argumentReady(call: OpenCall, path: JsonPath, value: JsonValue, spelling?: string): void {
    const tool = this.lastRound ? undefined : this.offer.gateway.get(call.name);
    if (tool?.definition.thought && path[0] === "thought") return;
    const hopeless = tool && this.hopeless.look(call, tool, path, value);
    if (path.length > 1 && !hopeless) return;
    const event = {
      type: "tool.args",
      ...this.names(call),
      path: hopeless?.path ?? String(path[0]),
      value,
      ...(hopeless && { problem: hopeless.problem, message: hopeless.feedback }),
    };
    if (typeof value === "number" && spelling !== undefined)
      keepSpelling(event as JsonObject, "value", value, spelling);
    this.answer.progress(event);
  }

  /** Takes one call off the run's allowance; `false` when there is none left. */
  takeCall(): boolean {
    this.limits.toolCalls++;
    return this.limits.toolCalls <= this.deps.limits.tool_calls;
  }

  /** Takes one call off what the run may make of a tool; `false` when there is none left. */
  takeCallOf({ definition }: RegisteredTool): boolean {
    const { name, max_calls_per_run: limit } = definition;
    const made = this.callsOfTool.get(name) ?? 0;
    if (limit !== undefined && made >= limit) return false;
    this.callsOfTool.set(name, made + 1);
    return true;
  }

  names(call: Pick<ToolCall, "id" | "name">): { call_id: string; name: string; round: number } {
    return { call_id: call.id, name: call.name, round: this.round };
  }

  summarise(call: Pick<ToolCall, "id" | "name">, rest: Omit<ToolSummary, "call_id" | "name">): void {
    this.#tools.push({ call_id: call.id, name: call.name, ...rest });
    this.onRecord();
  }

  toolsPhaseMs(): number {
    const { tools_phase_ms, run_ms } = this.deps.limits;
    return Math.max(1, Math.min(tools_phase_ms, run_ms - this.limits.elapsedMs()));
  }

  startRecord(round: number): RoundRecord {
    const record = newRound(round);
    this.record.rounds.push(record);
    this.onRecord();
    return record;
  }

  recordThought(thought: string | undefined): void {
    const round = this.record.rounds.at(-1);
    if (round && thought !== undefined) round.thought = keptStart(thought);
  }

  recordCall(call: ToolCall, owner: CallRecord["owner"]): CallRecord {
    const record = newCall(call, owner, this.hopeless.note(call.id));
    this.record.rounds.at(-1)?.calls.push(record);
    return record;
  }

  /** What became of a call that may change something. */
  noteWrite(callId: string, write: NonNullable<CallRecord["write"]>): void {
    const call = this.record.rounds.at(-1)?.calls.find(({ call_id }) => call_id === callId);
    if (call) call.write = write;
  }

  addUsage(usage: Usage | undefined): void {
    this.spend?.completed(usage);
    this.#usages.push(usage ?? null);
    if (usage) this.usage = addUsage(this.usage, usage);
  }

  /** Why the next round must be the last one, if it must. */
  over(): StopReason | undefined {
    return runOver(this.limits, this.deps.limits);
  }

  ending(finish: FinishReason, stopReason: StopReason): Ending {
    return { finish, summary: this.#summary(stopReason), usage: this.usage };
  }

  #summary(stop_reason: StopReason): RunSummary {
    const calls = this.record.rounds.flatMap((round) => round.calls.map((call) => call.call_id));
    const place = new Map(calls.map((id, index) => [id, index]));
    const placeOf = (tool: ToolSummary) => place.get(tool.call_id) ?? calls.length;
    return {
      run_id: this.id,
      session_id: this.sessionId,
      stop_reason,
      rounds: this.round,
      tools: this.#tools.toSorted((a, b) => placeOf(a) - placeOf(b)),
      usage_by_round: this.#usages,
      ...(this.pending.length > 0 && { pending_approvals: this.pending }),
    };
  }
}
