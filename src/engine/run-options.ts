import type { ChatRequest } from "../core/protocol/wire.ts";
import type { Answer } from "./answer/answer.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { Writes } from "./approvals/writes.ts";
import type { RunSpend } from "./budgets/run-spend.ts";
import type { SharedCalls } from "./calls/shared-calls.ts";
import type { ToolHealth } from "./calls/tool-health.ts";
import type { Limits } from "./limits.ts";
import type { Caller, Offer } from "./offer.ts";
import type { Stores } from "./ports/stores.ts";
import type { RunScope, Telemetry } from "./ports/telemetry.ts";
import type { ToolTransport } from "./ports/tools.ts";
import type { Upstream } from "./ports/upstream.ts";
import type { Rates } from "./rates/rates.ts";
import type { ToolLimits } from "./rates/tool-limits.ts";
import type { ToolSnapshot } from "./registry/tool-snapshot.ts";
import type { UpstreamHealth } from "./reply/upstream-health.ts";
import type { StoredResults } from "./results/stored-results.ts";
import type { RunSession } from "./sessions/run-session.ts";

/** What every run uses. */
export interface EngineDeps {
  upstream: Upstream;
  transport: ToolTransport;
  health: ToolHealth;
  upstreams: UpstreamHealth;
  shared: SharedCalls;
  rates: Rates;
  toolLimits: ToolLimits;
  stores: Stores;
  /** Results that are too long for a message. */
  results: StoredResults;
  telemetry: Telemetry;
  writes: Writes;
  approvals: Approvals;
  /** How long a stream waits for decisions, in milliseconds. */
  holdMs: number;
  limits: Limits;
  locale: "en" | "zh";
  repair: "safe" | "off";
  /** Stop a reply as soon as one of its calls cannot become valid any more. */
  cancelEarly: boolean;
  /** Whether the model is told how to use the gateway, in its instructions. */
  hints: boolean;
  /** Bytes of a conversation above which old results are left out of it; 0 for never. */
  historyBytes: number;
  /** Unix milliseconds. */
  now(): number;
  newId(prefix: string): string;
}

/** The run ends and can be gone on with (`park`), waits for a while first (`hold`), or asks through a call of a client's tool (`client`). */
export type ApprovalMode = "park" | "hold" | "client";

/** Who wants to know what a run may change. */
export interface RunWatch {
  /** The run is offered tools that may change something. */
  mayWrite(): void;
  /** Before each request to such a tool, which is not made if this rejects. */
  writing(): Promise<void>;
  /** The stop reason, `error` or `cancelled`. */
  ended(stopReason: string): void;
}

export interface RunOptions {
  id: string;
  sessionId: string;
  /** The client named the session; else its id is new. */
  isSessionNamed: boolean;
  session: RunSession;
  /** Absent where neither a price nor a budget is set. */
  spend?: RunSpend | undefined;
  /** Results of earlier and simultaneous calls may answer those of this run. */
  mayShare: boolean;
  caller: Caller;
  request: ChatRequest;
  /** The request body as it came, sent as it is where nothing has to be added. */
  raw: Buffer;
  authorization: string | undefined;
  /** All tools when the run began, of which `offer` holds what the model may call. */
  tools: ToolSnapshot;
  offer: Offer;
  answer: Answer;
  scope: RunScope;
  /** Aborts when the client leaves or the gateway gives up. */
  signal: AbortSignal;
  /** Judge every call, and send nothing to a tool. */
  dryRun: boolean;
  watch?: RunWatch | undefined;
  /** What happens when calls wait for a person. */
  approvalMode: ApprovalMode;
  /** The model goes on in a turn that it began in another run. */
  isResumed: boolean;
  /** `x-toolweir-tools`. */
  toolsHeader: string | undefined;
  /** Called after every change of the record. */
  onRecord(): void;
}
