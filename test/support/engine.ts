import type { ChatChunk, ChatRequest } from "../../src/core/protocol/wire.ts";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";
import type { Answer, Ending } from "../../src/engine/answer/answer.ts";
import { StreamAnswer } from "../../src/engine/answer/answer-stream.ts";
import { WholeAnswer } from "../../src/engine/answer/answer-whole.ts";
import { Approvals } from "../../src/engine/approvals/approvals.ts";
import { Writes } from "../../src/engine/approvals/writes.ts";
import { SharedCalls } from "../../src/engine/calls/shared-calls.ts";
import { ToolHealth } from "../../src/engine/calls/tool-health.ts";
import { newId as nextId } from "../../src/engine/new-id.ts";
import { type Caller, makeOffer } from "../../src/engine/offer.ts";
import type { DocumentStore, KeptTurnStore, Stores } from "../../src/engine/ports/stores.ts";
import type { RunScope } from "../../src/engine/ports/telemetry.ts";
import type { ToolAttempt, ToolReply, ToolTransport } from "../../src/engine/ports/tools.ts";
import { Rates } from "../../src/engine/rates/rates.ts";
import { ToolLimits } from "../../src/engine/rates/tool-limits.ts";
import {
  createSnapshot,
  type RegisteredTool,
  toRegistered,
} from "../../src/engine/registry/tool-snapshot.ts";
import { UpstreamHealth } from "../../src/engine/reply/upstream-health.ts";
import { StoredResults } from "../../src/engine/results/stored-results.ts";
import { runRounds } from "../../src/engine/run.ts";
import type { EngineDeps, RunOptions } from "../../src/engine/run-options.ts";
import { Run } from "../../src/engine/run-state.ts";
import { RunSession } from "../../src/engine/sessions/run-session.ts";
import { SessionBook } from "../../src/engine/sessions/session-book.ts";
import { memoryCache } from "../../src/stores/memory-cache.ts";
import { memoryRates } from "../../src/stores/memory-rates.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";
import { fakeKeptTurns } from "./kept-turns.ts";
import { type FakeSink, fakeSink } from "./sink.ts";
import { type FakeTarget, fakeUpstream } from "./upstream.ts";

const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** A registered read tool with one parameter, `city`, unless said differently. */
export function toolNamed(name: string, change: object = {}): RegisteredTool {
  const checked = checkToolDefinition({
    name,
    description: "When the user asks",
    parameters: CITY,
    http: { method: "POST", url: "https://tools.example/" },
    level: "read",
    retry: 0,
    ...change,
  });
  return toRegistered(checked, { version: 1, updatedAt: 1, etag: '"1"' });
}

const UNBOUND = new Rates({ counters: memoryRates(), ofKey: () => ({}), user: {}, session: {} });

/** A caller who may use everything. */
export const CALLER: Caller = { name: "app", maxLevel: "admin", tools: ["*"] };

/** A tool's answer of status 200. */
export const toolReply = (value: unknown, change: Partial<ToolReply> = {}): ToolReply => ({
  status: 200,
  contentType: "application/json",
  body: Buffer.from(JSON.stringify(value)),
  truncated: false,
  retryAfterMs: undefined,
  ...change,
});

/** One request to a tool. */
export interface Sent {
  tool: string;
  args: Readonly<Record<string, unknown>>;
  attempt: ToolAttempt;
  signal: AbortSignal;
}

/** A transport that keeps what it was asked; without an answer of its own every tool says `{ok: true}`. */
export function fakeTransport(
  answer: (sent: Sent) => ToolReply | Promise<ToolReply> = () => toolReply({ ok: true }),
): ToolTransport & { sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    async send(tool, args, attempt, signal) {
      const one = { tool: tool.name, args, attempt, signal };
      sent.push(one);
      return await answer(one);
    },
  };
}

/** A scope that notes the names and arguments of the calls to it. */
export function fakeScope(): RunScope & { notes: [name: string, ...said: unknown[]][] } {
  const notes: [string, ...unknown[]][] = [];
  const note =
    (name: string) =>
    (...said: unknown[]) =>
      void notes.push([name, ...said]);
  return {
    notes,
    traceId: "trace",
    startRound: (round) => ({ traceparent: `round-${round}`, end: note("round") }),
    startTool: (tool) => ({
      traceparent: `tool-${tool}`,
      end: (end) => void notes.push(["tool", tool, end]),
    }),
    verdict: note("verdict"),
    coerced: note("coerced"),
    repaired: note("repaired"),
    shared: note("shared"),
    selected: note("selected"),
    canary: note("canary"),
    policy: note("policy"),
    shortened: note("shortened"),
    refused: note("refused"),
    looped: note("looped"),
    correctionEnded: note("correctionEnded"),
    firstToken: note("firstToken"),
    upstreamFailed: note("upstreamFailed"),
    end: note("end"),
  };
}

/** What a test says of a run; the rest has defaults. */
export interface Scene {
  targets: readonly FakeTarget[];
  strict?: boolean;
  tools?: readonly RegisteredTool[];
  request?: Partial<ChatRequest>;
  /** How the client spelt its request, where that matters. */
  raw?: string;
  transport?: ToolTransport;
  keptTurns?: KeptTurnStore;
  limits?: Partial<EngineDeps["limits"]>;
  shared?: SharedCalls;
  upstreams?: UpstreamHealth;
  /** As the client named it. */
  session?: string;
  mayShare?: boolean;
  documents?: DocumentStore;
  locale?: "en" | "zh";
  caller?: Caller;
  /** `x-toolweir-tools`. */
  header?: string;
  events?: boolean;
  dryRun?: boolean;
  historyBytes?: number;
  cancelEarly?: boolean;
  hints?: boolean;
  includeUsage?: boolean;
  now?: () => number;
  signal?: AbortSignal;
  approvalMode?: RunOptions["approvalMode"];
  holdMs?: number;
}

/** A run that is ready to begin, with what stands around it. */
export interface Stage {
  run: Run;
  sink: FakeSink;
  scope: ReturnType<typeof fakeScope>;
}

/** What a run in a test uses. */
export function fakeDeps(scene: Scene): EngineDeps {
  let ids = 0;
  const locale = scene.locale ?? "en";
  const newId = (prefix: string) => `${prefix}${++ids}`;
  const now = scene.now ?? (() => 1_000_000);
  const { ledger, documents } = openSqlite(":memory:", now);
  const stores = { keptTurns: scene.keptTurns ?? fakeKeptTurns(), documents, ledger } as Stores;
  const transport = scene.transport ?? fakeTransport();
  const writes = new Writes({ ledger, now, newId: nextId });
  const telemetry = { startRun: fakeScope, ledger() {}, budgetRefused() {}, runRefused() {} };
  const snapshot = createSnapshot(1, scene.tools ?? []);
  const health = new ToolHealth();
  const approvals = new Approvals({
    ledger,
    writes,
    transport,
    health,
    registry: { snapshot: () => snapshot },
    sessions: new SessionBook(documents, now, 60_000),
    findCaller: () => scene.caller ?? CALLER,
    telemetry,
    ttlMs: 900_000,
    locale,
    now,
  });
  return {
    rates: UNBOUND,
    toolLimits: new ToolLimits({ documents, counters: memoryRates(), rates: UNBOUND, now }),
    upstream: fakeUpstream(...scene.targets),
    transport,
    health,
    upstreams: scene.upstreams ?? new UpstreamHealth(),
    shared: scene.shared ?? new SharedCalls(memoryCache(1_000_000)),
    results: new StoredResults(scene.documents ?? documents, { ttlMs: 3_600_000, locale }),
    stores,
    telemetry,
    writes,
    approvals,
    holdMs: scene.holdMs ?? 1_000,
    limits: {
      rounds: 10,
      tool_calls: 10,
      corrections: 3,
      run_ms: 300_000,
      tools_phase_ms: 30_000,
      parallel_calls: 8,
      ...scene.limits,
    },
    locale,
    repair: "safe",
    cancelEarly: scene.cancelEarly ?? false,
    hints: scene.hints ?? true,
    historyBytes: scene.historyBytes ?? 0,
    now,
    newId,
  };
}

/** Prepares a run. A streamed one (the default) writes into the sink. */
export function stage(scene: Scene): Stage {
  const request: ChatRequest = {
    model: "gpt",
    stream: true,
    messages: [{ role: "user", content: "hi" }],
    ...scene.request,
  };
  const sink = fakeSink();
  const scope = fakeScope();
  const tools = createSnapshot(1, scene.tools ?? []);
  const now = scene.now ?? (() => 1_000_000);
  const documents = scene.documents ?? ({} as DocumentStore);
  const book = new SessionBook(documents, now, 60_000);
  const name = { caller: (scene.caller ?? CALLER).name, id: scene.session ?? "session1" };
  const run = new Run(fakeDeps(scene), {
    id: "run1",
    sessionId: scene.session ?? "session1",
    isSessionNamed: scene.session !== undefined,
    session: new RunSession(book, name, scene.session !== undefined, now),
    mayShare: scene.mayShare ?? true,
    caller: scene.caller ?? CALLER,
    request,
    raw: Buffer.from(scene.raw ?? JSON.stringify(request)),
    authorization: undefined,
    tools,
    offer: makeOffer(request, tools, scene.caller ?? CALLER, scene.header),
    answer: request.stream ? streamAnswer(sink, scene, request, scope) : new WholeAnswer(request.model),
    scope,
    signal: scene.signal ?? sink.signal,
    dryRun: scene.dryRun ?? false,
    approvalMode: scene.approvalMode ?? "park",
    isResumed: false,
    toolsHeader: scene.header,
    onRecord() {},
  });
  return { run, sink, scope };
}

function streamAnswer(sink: FakeSink, scene: Scene, request: ChatRequest, scope: RunScope): Answer {
  return new StreamAnswer(sink, {
    runId: "run1",
    sessionId: "session1",
    model: request.model,
    choices: request.n ?? 1,
    events: scene.events ?? false,
    strict: scene.strict ?? false,
    includeUsage: scene.includeUsage ?? false,
    now: () => 1_000_000,
    onFirstToken: () => scope.firstToken(),
  });
}

/** A run that is over. */
export interface Played extends Stage {
  ending: Ending;
  /** The body of an unstreamed answer, or the whole text of the stream. */
  body: ChatChunk;
  text: string;
}

/** Plays a run to its end. */
export async function play(scene: Scene): Promise<Played> {
  const staged = stage(scene);
  const ending = await runRounds(staged.run);
  const { answer } = staged.run;
  let body: ChatChunk = {};
  if (answer instanceof WholeAnswer) body = answer.end(ending, false);
  if (answer instanceof StreamAnswer) answer.end(ending);
  return { ...staged, ending, body, text: staged.sink.text };
}
