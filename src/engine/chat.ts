import type { ChatChunk, ChatRequest } from "../core/protocol/wire.ts";
import { asGatewayError } from "../errors.ts";
import type { Ending } from "./answer/answer.ts";
import { StreamAnswer } from "./answer/answer-stream.ts";
import { WholeAnswer } from "./answer/answer-whole.ts";
import type { ParkedRun } from "./approvals/parked.ts";
import { openSpend, type Spending } from "./budgets/spending.ts";
import { wholeConversation } from "./conversation.ts";
import { chainingHint, withInstruction } from "./hints.ts";
import { type Caller, makeOffer, type Offer } from "./offer.ts";
import { type OpenRun, OpenRuns } from "./open-runs.ts";
import { ClientGone, type ClientSink } from "./ports/client.ts";
import { canaryKey, type RegisteredTool, type ToolSnapshot } from "./registry/tool-snapshot.ts";
import { addedMessages, fitHistory } from "./results/history.ts";
import { offerForConversation } from "./results/offer-results.ts";
import { runRounds } from "./run.ts";
import { finishRecord, settleRun } from "./run-end.ts";
import { afterWrite } from "./run-error.ts";
import type { ApprovalMode, EngineDeps, RunWatch } from "./run-options.ts";
import type { RunBook } from "./run-record.ts";
import { Run } from "./run-state.ts";
import { type Selection, selectTools } from "./selection/select.ts";
import type { ToolIndex } from "./selection/tool-index.ts";
import { RunSession } from "./sessions/run-session.ts";
import type { SessionBook } from "./sessions/session-book.ts";

/** One client request, as the HTTP layer read it. */
export interface ChatCall {
  runId: string;
  sessionId: string;
  /** The client named the session. */
  isSessionNamed: boolean;
  /** Not `x-toolweir-cache: off`. */
  mayShare: boolean;
  caller: Caller;
  request: ChatRequest;
  raw: Buffer;
  authorization: string | undefined;
  traceparent: string | undefined;
  /** `x-toolweir-tools`. */
  toolsHeader: string | undefined;
  /** `x-toolweir-events: 1`. */
  events: boolean;
  /** `x-toolweir-dry-run: 1`. */
  dryRun: boolean;
  /** Leave the `toolweir` member out. */
  strict: boolean;
  /** When the request arrived, on the clock of `performance.now()`. */
  receivedAt: number;
  /** Aborted with `ClientGone` by the HTTP layer when the client leaves, with an error by the engine when it gives up. */
  stop: AbortController;
  /** Where the answer is streamed to; absent for an unstreamed request. */
  sink: ClientSink | undefined;
  watch: RunWatch | undefined;
  /** What happens when calls wait for a person. */
  approvalMode: ApprovalMode;
  /** The parked run that is gone on with. */
  resumed: ParkedRun | undefined;
  /** Takes headers of the answer, before it begins. */
  announce?(headers: Readonly<Record<string, string>>): void;
}

export interface ChatDeps extends EngineDeps {
  registry: { snapshot(): ToolSnapshot };
  book: RunBook;
  sessions: SessionBook;
  /** Absent where neither a price nor a budget is set. */
  spending: Spending | undefined;
  toolIndex: ToolIndex;
  /** Tools that are offered at most where nobody has named them. */
  maxTools: number;
  keepalive: { every_ms: number; as: "comment" | "chunk" | "off" };
  concurrentRuns: number;
  concurrentRunsPerKey: number | undefined;
  /** How many requests may wait until fewer runs are open, and for how long in milliseconds. */
  queue: { most: number; ms: number };
}

/** The chat engine: admits, runs and records. */
export class ChatEngine {
  readonly #deps: ChatDeps;
  readonly #open: OpenRuns;

  constructor(deps: ChatDeps) {
    this.#deps = deps;
    this.#open = new OpenRuns({
      most: deps.concurrentRuns,
      mostPerKey: deps.concurrentRunsPerKey,
      queue: deps.queue,
      onRefused: () => deps.telemetry.runRefused(),
      runMs: deps.limits.run_ms,
      keepalive: deps.keepalive,
    });
  }

  /** Ends what goes on by itself; runs are ended by `cutOff`. */
  close(): void {
    this.#open.close();
  }

  get openRuns(): number {
    return this.#open.count;
  }

  /** Requests that wait until fewer runs are open. */
  get waitingRuns(): number {
    return this.#open.waiting;
  }

  /** Resolves when no run is open. A run goes on after its client has left for as long as a write that it began. */
  idle(): Promise<void> {
    return this.#open.idle();
  }

  /** Ends the run that holds most memory with `server_is_overloaded`. `false` if there is none. */
  cutLargest(): boolean {
    return this.#open.cutLargest();
  }

  /** Ends every open run with `shutting_down`. */
  cutOff(): void {
    this.#open.cutOff();
  }

  /**
   * Answers one request. Streamed: writes to the sink and returns nothing; an error before the first byte is thrown, a later one
   * is written. Unstreamed: returns the body.
   */
  async answer(call: ChatCall): Promise<ChatChunk | undefined> {
    const admitted = this.#open.admit(call.stop, call.caller.name);
    const open = admitted instanceof Promise ? await admitted : admitted;
    try {
      return await this.#run(call, open);
    } finally {
      this.#open.forget(open);
    }
  }

  async #run(call: ChatCall, open: OpenRun): Promise<ChatChunk | undefined> {
    const { request, caller } = call;
    const inForce = this.#deps.registry.snapshot();
    const tools = inForce.forSession(canaryKey({ ...call, caller: caller.name }));
    const session = await this.#session(call, tools);
    const selection = await this.#selection(call, inForce, session);
    const { isElevated } = session;
    const offer = makeOffer(request, tools, caller, call.toolsHeader, {
      isElevated,
      select: selection.select,
    });
    await this.#admitUser(call);
    const spend = await openSpend(this.#deps, call);
    const scope = this.#deps.telemetry.startRun({
      runId: call.runId,
      sessionId: call.sessionId,
      model: request.model,
      stream: call.sink !== undefined,
      traceparent: call.traceparent,
      receivedAt: call.receivedAt,
    });
    const answer = call.sink ? this.#streamAnswer(call, call.sink, scope) : new WholeAnswer(request.model);
    const run = new Run(this.#deps, {
      id: call.runId,
      sessionId: call.sessionId,
      isSessionNamed: call.isSessionNamed,
      session,
      spend,
      mayShare: call.mayShare,
      caller,
      request,
      raw: call.raw,
      authorization: call.authorization,
      tools,
      offer,
      answer,
      scope,
      signal: call.stop.signal,
      dryRun: call.dryRun,
      watch: call.watch,
      approvalMode: call.approvalMode,
      toolsHeader: call.toolsHeader,
      isResumed: call.resumed !== undefined,
      onRecord: () => this.#deps.book.changed(call.runId),
    });
    noteSelection(run, selection.made);
    if (call.watch && offersWrites(offer)) call.watch.mayWrite();
    this.#deps.book.add(caller.name, run.record, tools);
    if (answer instanceof StreamAnswer) open.answer = answer;
    open.size = () => run.conversationBytes;
    try {
      const ending = await this.#rounds(run, call.resumed);
      finishRecord(run, ending.summary.stop_reason, undefined, this.#deps.now());
      await settleRun(run);
      scope.end({ stopReason: ending.summary.stop_reason, rounds: run.round });
      if (answer instanceof WholeAnswer) return answer.end(ending, call.strict);
      answer.end(ending);
      return undefined;
    } catch (error) {
      return this.#failed(run, error, call);
    }
  }

  /** The user and the session are known only now. */
  async #admitUser({ caller, request, sessionId, isSessionNamed, announce }: ChatCall): Promise<void> {
    const { rates } = this.#deps;
    if (!rates.bounds(caller.name)) return;
    const session = isSessionNamed ? sessionId : undefined;
    announce?.(
      await rates.admitUser({ caller: caller.name, user: caller.user ?? request.user ?? undefined, session }),
    );
  }

  /** Tools are chosen where there are more than may be offered, all sessions by what the versions in force say of themselves. */
  async #selection({ request }: ChatCall, snapshot: ToolSnapshot, session: RunSession): Promise<Selecting> {
    const { toolIndex: index, maxTools: max } = this.#deps;
    if (snapshot.names.length > max) await index.update(snapshot);
    const selecting: Selecting = {
      made: undefined,
      select(permitted) {
        if (permitted.length <= max) return permitted;
        const from = performance.now();
        const selection = selectTools(request, permitted, index, { max, used: session.latestTools });
        selecting.made = { ...selection, considered: permitted.length, ms: performance.now() - from };
        return selection.tools;
      },
    };
    return selecting;
  }

  /** What is kept of a session matters only where there are tools. */
  async #session({ caller, sessionId, isSessionNamed }: ChatCall, tools: ToolSnapshot): Promise<RunSession> {
    const name = { caller: caller.name, id: sessionId };
    const isKept = isSessionNamed && tools.names.length > 0;
    const session = new RunSession(this.#deps.sessions, name, isKept, this.#deps.now);
    await session.refresh();
    return session;
  }

  async #rounds(run: Run, resumed: ParkedRun | undefined): Promise<Ending> {
    run.messages = await wholeConversation(run, resumed);
    fitHistory(run, addedMessages(run));
    await offerForConversation(run);
    const hint = this.#deps.hints ? chainingHint(run.offer, run.locale) : undefined;
    if (hint !== undefined) run.messages = withInstruction(run.messages, hint);
    return runRounds(run);
  }

  #streamAnswer(call: ChatCall, sink: ClientSink, scope: { firstToken(): void }): StreamAnswer {
    return new StreamAnswer(sink, {
      runId: call.runId,
      sessionId: call.sessionId,
      model: call.request.model,
      choices: call.request.n ?? 1,
      events: call.events,
      strict: call.strict,
      includeUsage: call.request.stream_options?.include_usage === true,
      now: this.#deps.now,
      onFirstToken: () => scope.firstToken(),
    });
  }

  /** After the first byte the error goes into the stream; a client that has left gets none. */
  async #failed(run: Run, thrown: unknown, { sink, stop }: ChatCall): Promise<undefined> {
    const error = run.wrote ? afterWrite(asGatewayError(thrown), run.id) : asGatewayError(thrown);
    const gone = stop.signal.reason instanceof ClientGone;
    finishRecord(run, gone ? "cancelled" : "error", gone ? undefined : error, this.#deps.now());
    await settleRun(run);
    run.scope.end({ stopReason: gone ? "cancelled" : "error", rounds: run.round, ...(!gone && { error }) });
    if (gone) return undefined;
    if (!(run.answer instanceof StreamAnswer) || !sink?.started) throw error;
    run.answer.fail(error);
    return undefined;
  }
}

function offersWrites({ gateway }: Offer): boolean {
  return gateway.values().some(({ definition }) => definition.level !== "read");
}

/** How tools are chosen for a run, and what came of it. */
interface Selecting {
  made: (Selection & { considered: number; ms: number }) | undefined;
  select(permitted: readonly RegisteredTool[]): readonly RegisteredTool[];
}

function noteSelection(run: Run, made: Selecting["made"]): void {
  if (!made) return;
  const { considered, why, ms } = made;
  run.record.selection = { considered, tools: why, duration_ms: Math.round(ms * 100) / 100 };
  run.scope.selected(ms / 1_000);
}
