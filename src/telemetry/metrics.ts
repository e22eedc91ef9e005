import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { GateNote, LedgerNote, ToolOutcome } from "../engine/ports/telemetry.ts";
import { BreakerMetrics, type LeftAlone } from "./breaker-metrics.ts";
import { loadMetrics } from "./load-metrics.ts";

/** Tools beyond this many share the label `other`. */
const MAX_TOOL_LABELS = 200;

const OUTCOMES = [
  "ok",
  "error",
  "rejected",
  "timeout",
  "cancelled",
] as const satisfies readonly ToolOutcome[];

const STOP_REASONS = new Set([
  "completed",
  "client_tools",
  "approval_required",
  "max_rounds",
  "max_tool_calls",
  "loop_guard",
  "budget",
  "timeout",
  "length",
  "content_filter",
  "cancelled",
  "error",
]);

const APPROVAL_STEPS: ReadonlySet<LedgerNote["step"]> = new Set([
  "requested",
  "approved",
  "denied",
  "expired",
  "stale",
  "cancelled",
]);

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const CALL = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const RUN = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every series of `/metrics`, in one registry of its own. No label is unbounded: a route is a pattern, an upstream is configured, a
 * code, gate, problem, repair, outcome or stop reason is from a closed list, and a tool is a registered name (the first 200 of them, the
 * rest is `other`; what the model made up is `unknown`). Never a key, user, session, model, URL or message.
 * `pendingApprovals` counts the calls that await a person, when it is asked.
 */
export function createMetrics(
  isRegistered: (tool: string) => boolean,
  pendingApprovals: () => Promise<number> = async () => 0,
) {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const series = createSeries(register, pendingApprovals);
  const tools = new Map<string, ToolSeries>();

  return {
    ...series,

    /** The series of one tool, for names as the model gave them. */
    tool(name: string): ToolSeries {
      const known = tools.get(name);
      if (known) return known;
      const label = toolLabel(name, isRegistered, tools);
      const made = tools.get(label) ?? toolSeries(series, label);
      tools.set(label, made);
      return made;
    },

    runEnded(stopReason: string, seconds: number): void {
      series.openRuns.dec();
      series.runs.inc({ stop_reason: STOP_REASONS.has(stopReason) ? stopReason : "other" });
      series.runSeconds.observe(seconds);
    },

    /** Counts one answer. `route` is the pattern of the route, `undefined` where none matched. */
    countRequest(route: string | undefined, method: string, status: number): void {
      series.requests.inc({
        route: route ?? "none",
        method: METHODS.has(method) ? method : "other",
        status_class: `${Math.floor(status / 100)}xx`,
      });
    },

    /** From now on `/metrics` asks these for the names of tools and upstreams that are left alone. */
    showLeftAlone(leftAlone: { tools: LeftAlone; upstreams: LeftAlone }): void {
      // A tool that is left alone has been counted, so it has its label.
      series.breakers.show(() => leftAlone.tools().map((name) => (tools.has(name) ? name : "other")));
      series.upstreamBreakers.show(leftAlone.upstreams);
    },

    register,

    /** The media type of `render`. */
    contentType: register.contentType,

    /** The text of `/metrics`. */
    render: (): Promise<string> => register.metrics(),
  };
}

/** What is counted about one tool. Its label is settled, so that counting does not look it up again. */
export interface ToolSeries {
  ended(outcome: ToolOutcome, seconds: number): void;
  verdict(note: GateNote): void;
  coerced(count: number): void;
  repaired(kinds: readonly string[]): void;
  policy(kind: string, action: string): void;
  refused(): void;
  shared(from: "cache" | "request" | "none"): void;
  breakerOpened(): void;
  canary(outcome: ToolOutcome): void;
  /** A call that may change something has come to another step. */
  ledger(step: LedgerNote["step"]): void;
}

function toolLabel(
  name: string,
  isRegistered: (tool: string) => boolean,
  taken: ReadonlyMap<string, unknown>,
): string {
  if (!isRegistered(name)) return "unknown";
  return taken.size < MAX_TOOL_LABELS ? name : "other";
}

function toolSeries(series: Series, tool: string): ToolSeries {
  const seconds = series.toolSeconds.labels({ tool });
  const calls = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, series.toolCalls.labels({ tool, outcome })]),
  );
  const coercions = series.coercions.labels({ tool });
  const refusals = series.refusals.labels({ tool });
  const shared = {
    cache: series.shared.labels({ tool, from: "cache" }),
    request: series.shared.labels({ tool, from: "request" }),
    none: series.shared.labels({ tool, from: "none" }),
  };
  return {
    ended(outcome, duration) {
      calls[outcome]?.inc();
      seconds.observe(duration);
    },
    verdict({ gate, pass, problem }) {
      series.verdicts.inc({ tool, gate, verdict: pass ? "pass" : "reject", problem: problem ?? "none" });
    },
    coerced: (count) => coercions.inc(count),
    repaired(kinds) {
      for (const kind of kinds) series.repairs.inc({ tool, kind });
    },
    policy: (kind, action) => series.policies.inc({ tool, class: kind, action }),
    refused: () => refusals.inc(),
    shared: (from) => shared[from].inc(),
    canary: (outcome) => series.canaries.inc({ tool, outcome }),
    breakerOpened: () => series.breakers.opened(tool),
    ledger(step) {
      if (step === "outcome_unknown") series.unknownOutcomes.inc({ tool });
      else if (APPROVAL_STEPS.has(step)) series.approvals.inc({ tool, outcome: step });
    },
  };
}

type Series = ReturnType<typeof createSeries>;

function approvalSeries(register: Registry, pendingApprovals: () => Promise<number>) {
  const registers = [register];
  return {
    approvals: new Counter({
      name: "toolweir_approvals_total",
      help: "Approvals asked for, and what became of them.",
      labelNames: ["tool", "outcome"],
      registers,
    }),
    pendingApprovals: new Gauge({
      name: "toolweir_approvals_pending",
      help: "Calls that await an approval now.",
      registers,
      async collect() {
        this.set(await pendingApprovals().catch(() => Number.NaN));
      },
    }),
    unknownOutcomes: new Counter({
      name: "toolweir_unknown_outcomes_total",
      help: "Calls that may have changed something, or not: somebody has to look.",
      labelNames: ["tool"],
      registers,
    }),
  };
}

function createSeries(register: Registry, pendingApprovals: () => Promise<number>) {
  const make = seriesMakers(register);
  return {
    ...runSeries(register, make),
    ...callSeries(make),
    ...approvalSeries(register, pendingApprovals),
    breakers: new BreakerMetrics(register, "toolweir_", "tool"),
    admission: loadMetrics(register),
    upstreamBreakers: new BreakerMetrics(register, "toolweir_upstream_", "upstream"),
  };
}

function seriesMakers(register: Registry) {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name: `toolweir_${name}`, help, labelNames, registers: [register] });
  const seconds = <L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ) => new Histogram({ name: `toolweir_${name}_seconds`, help, labelNames, buckets, registers: [register] });
  return { counter, seconds };
}

type Makers = ReturnType<typeof seriesMakers>;

/** Of requests and runs. */
function runSeries(register: Registry, { counter, seconds }: Makers) {
  return {
    runs: counter("runs_total", "Runs that ended, by why they ended.", ["stop_reason"]),
    openRuns: new Gauge({ name: "toolweir_open_runs", help: "Runs going on now.", registers: [register] }),
    runSeconds: seconds("run_duration", "From the request to the end of its run.", RUN),
    firstTokenSeconds: seconds(
      "time_to_first_token",
      "From the request to the first text for the client.",
      RUN,
    ),
    addedSeconds: seconds("added_latency", "From the request to the first one to an upstream.", FAST),
    selectionSeconds: seconds("selection_duration", "Of choosing the tools for a run.", FAST),
    rounds: counter("rounds_total", "Completions asked of upstreams, by how calls came.", ["protocol"]),
    upstreamErrors: counter("upstream_errors_total", "Failed attempts on an upstream.", ["upstream", "code"]),
    shortened: counter(
      "history_results_left_out_total",
      "Old results that were left out of a conversation to keep it short.",
    ),
    requests: counter("http_requests_total", "Answered HTTP requests.", ["route", "method", "status_class"]),
    droppedLines: counter("log_lines_dropped_total", "Log lines lost because the log's reader was too slow."),
  };
}

/** Of calls of tools. */
function callSeries(makers: Makers) {
  const { counter, seconds } = makers;
  return {
    toolCalls: counter("tool_calls_total", "Tool calls by how they ended.", ["tool", "outcome"]),
    toolSeconds: seconds("tool_duration", "Of a tool call with all its attempts.", CALL, ["tool"]),
    verdicts: counter("gate_verdicts_total", "What each gate said about a call.", [
      "tool",
      "gate",
      "verdict",
      "problem",
    ]),
    coercions: counter("coercions_total", "Argument values that were converted without loss.", ["tool"]),
    repairs: counter("repairs_total", "Faults put right in arguments that were not JSON.", ["tool", "kind"]),
    refusals: counter("refusals_total", "Calls refused with an explanation for the model.", ["tool"]),
    corrections: counter(
      "corrections_total",
      "Chains of corrections of a tool's arguments, by how they ended.",
      ["outcome"],
    ),
    policies: counter("policy_actions_total", "What policies of tools did beside telling the model.", [
      "tool",
      "class",
      "action",
    ]),
    shared: counter("shared_results_total", "Calls of read tools, by where their result came from.", [
      "tool",
      "from",
    ]),
    canaries: counter("canary_calls_total", "Calls that a canary of the tool ran, by how they ended.", [
      "tool",
      "outcome",
    ]),
    ...limitSeries(makers),
  };
}

/** What keeps runs from going on and on. */
function limitSeries({ counter }: Makers) {
  return {
    budgetRefusals: counter(
      "budget_refusals_total",
      "Requests refused because the budget of their session or key was spent or reserved.",
    ),
    loopGuards: counter(
      "loop_guards_total",
      "Times that a model repeated itself: made one call again, or went through a cycle of rounds again.",
      ["kind"],
    ),
  };
}
