import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { RunInfo } from "../../src/engine/ports/telemetry.ts";
import { GatewayError } from "../../src/errors.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { createTelemetry } from "../../src/telemetry/telemetry.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

const INFO: RunInfo = {
  runId: "run_1",
  sessionId: "ses_1",
  model: "gpt-x",
  stream: true,
  traceparent: undefined,
};

function setUp(level = "info") {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const metrics = createMetrics((tool) => tool === "get_weather");
  const logger = createLogger({ level, onDropped: () => {}, destination });
  const telemetry = createTelemetry({ logger, metrics, tracing: { tracer: undefined } });
  return {
    start: (info: Partial<RunInfo> = {}) => telemetry.startRun({ ...INFO, ...info }),
    log: () => lines.map((line) => JSON.parse(line)),
    async value(line: string): Promise<number> {
      const text = await metrics.render();
      const found = text.split("\n").find((candidate) => candidate.startsWith(`toolweir_${line} `));
      return Number(found?.split(" ").at(-1));
    },
  };
}

type Run = ReturnType<ReturnType<typeof setUp>["start"]>;

function wholeRun(run: Run): void {
  run.startRound(1).end({ finish: "tool_calls", upstream: "main", protocol: "native" });
  run.verdict({ tool: "get_weather", gate: "syntax", pass: true }, "call_1");
  run.verdict({ tool: "get_weather", gate: "schema", pass: false, problem: "missing" }, "call_1");
  run.refused("get_weather");
  const end = {
    outcome: "ok",
    attempts: 1,
    durationMs: 12.3456,
    argumentsSha256: "ab12",
    resultBytes: 99,
  } as const;
  run.startTool("get_weather", "call_2", 1).end(end);
  run.firstToken();
  run.end({ stopReason: "completed", rounds: 1 });
}

suite("the log of a run", () => {
  test("has a line for each stage, each with all members of the contract", () => {
    const { start, log } = setUp();
    wholeRun(start());
    const stages = log().map(({ stage, status, tool_name, error }) => [stage, status, tool_name, error]);
    assert.deepEqual(stages, [
      ["run", "started", null, null],
      ["round", "tool_calls", null, null],
      ["gate", "rejected", "get_weather", "missing"],
      ["tool", "ok", "get_weather", null],
      ["run", "completed", null, null],
    ]);
    const members = "trace_id run_id session_id tool_name stage status duration_ms error".split(" ");
    for (const line of log()) {
      assert.deepEqual(
        members.filter((name) => !(name in line)),
        [],
      );
      assert.deepEqual([line.run_id, line.session_id], ["run_1", "ses_1"]);
    }
    assert.equal(new Set(log().map(({ trace_id }) => trace_id)).size, 1);
  });

  test("says of a tool call how large the result was and the hash of the arguments", () => {
    const { start, log } = setUp();
    wholeRun(start());
    const { duration_ms, call_id, arguments_sha256, result_bytes, attempts } = log()[3];
    assert.deepEqual(
      { duration_ms, call_id, arguments_sha256, result_bytes, attempts },
      { duration_ms: 12.346, call_id: "call_2", arguments_sha256: "ab12", result_bytes: 99, attempts: 1 },
    );
  });

  test("has the gates that passed only at level debug, and nothing of a good run at level warn", () => {
    const debug = setUp("debug");
    wholeRun(debug.start());
    assert.deepEqual(
      debug
        .log()
        .filter(({ stage }) => stage === "gate")
        .map(({ gate, status }) => [gate, status]),
      [
        ["syntax", "passed"],
        ["schema", "rejected"],
      ],
    );
    const warn = setUp("warn");
    wholeRun(warn.start());
    assert.deepEqual(warn.log(), []);
  });

  test("cuts names that others chose", () => {
    const { start, log } = setUp();
    const long = "x".repeat(100_000);
    const run = start({ sessionId: long, model: long });
    run.verdict({ tool: long, gate: "context", pass: false, problem: "unknown_tool" }, long);
    run.startTool(long, long, 1).end({ outcome: "rejected", attempts: 0, durationMs: 0 });
    run.startRound(1).end({ finish: long, upstream: "main", protocol: "native" });
    for (const line of log()) assert.ok(JSON.stringify(line).length < 1000, line.stage);
  });
});

test("the log has what a policy did, with the deprecated parameters of the schema", async () => {
  const { start, log, value } = setUp();
  const run = start();
  const note = { tool: "get_weather", class: "deprecated", action: "log", parameters: ["unit"] } as const;
  run.policy(note, "call_1");
  const { stage, status, error, tool_name, call_id, parameters } = log().at(-1);
  assert.deepEqual(
    [stage, status, error, tool_name, call_id, parameters],
    ["policy", "log", "deprecated", "get_weather", "call_1", ["unit"]],
  );
  const series = 'policy_actions_total{tool="get_weather",class="deprecated",action="log"}';
  assert.equal(await value(series), 1);
});

test("the ends of corrections are counted by outcome", async () => {
  const { start, value } = setUp();
  const run = start();
  for (const outcome of ["corrected", "corrected", "abandoned"] as const) run.correctionEnded(outcome);
  assert.equal(await value('corrections_total{outcome="corrected"}'), 2);
  assert.equal(await value('corrections_total{outcome="abandoned"}'), 1);
});

suite("a failure", () => {
  const failed = new GatewayError("upstream_timeout", "secret text of an upstream");

  test("of an upstream is a warning with its code, and counted; its text is not shown", async () => {
    const { start, log, value } = setUp("warn");
    const run = start();
    run.upstreamFailed("main", failed);
    run.end({ stopReason: "error", rounds: 1, error: failed });
    assert.deepEqual(
      log().map(({ level, stage, status, error }) => [level, stage, status, error]),
      [
        ["warn", "upstream", "failed", "upstream_timeout"],
        ["warn", "run", "failed", "upstream_timeout"],
      ],
    );
    assert.ok(!JSON.stringify(log()).includes("secret"));
    assert.equal(await value('upstream_errors_total{upstream="main",code="upstream_timeout"}'), 1);
    assert.equal(await value('runs_total{stop_reason="error"}'), 1);
  });

  test("of ours is an error with the stack of its cause", () => {
    const { start, log } = setUp("error");
    const error = new GatewayError("internal_error", "failed", { cause: new TypeError("bug in here") });
    start().end({ stopReason: "error", rounds: 0, error });
    assert.deepEqual(
      [log()[0].level, log()[0].err.type, log()[0].err.message],
      ["error", "TypeError", "bug in here"],
    );
    assert.match(log()[0].err.stack, /telemetry\.test\.ts/);
  });

  test("that the caller can mend is not a warning", () => {
    const { start, log } = setUp("warn");
    start().end({ stopReason: "error", rounds: 0, error: new GatewayError("invalid_value", "no") });
    assert.deepEqual(log(), []);
  });
});

suite("the numbers of a run", () => {
  test("count each thing once, also when it is ended twice", async () => {
    const { start, value } = setUp();
    const run = start();
    assert.equal(await value("open_runs"), 1);
    const round = run.startRound(1);
    const tool = run.startTool("get_weather", "call_1", 1);
    for (let i = 0; i < 2; i++) {
      round.end({ finish: "stop", upstream: "main", protocol: "native" });
      tool.end({ outcome: "ok", attempts: 1, durationMs: 1 });
      run.coerced("made_up", 2);
      run.repaired("get_weather", ["comment"]);
      run.firstToken();
      run.end({ stopReason: "completed", rounds: 1 });
    }
    assert.equal(await value("open_runs"), 0);
    assert.equal(await value('runs_total{stop_reason="completed"}'), 1);
    assert.equal(await value('rounds_total{protocol="native"}'), 1);
    assert.equal(await value('tool_calls_total{tool="get_weather",outcome="ok"}'), 1);
    assert.equal(await value("time_to_first_token_seconds_count"), 1);
    assert.equal(await value('coercions_total{tool="unknown"}'), 4);
    assert.equal(await value('repairs_total{tool="get_weather",kind="comment"}'), 2);
  });

  test("measure from the arrival of the request, added latency only up to the first round", async () => {
    const { start, value } = setUp();
    const run = start({ receivedAt: performance.now() - 2000 });
    run.startRound(1);
    run.startRound(2);
    run.firstToken();
    run.end({ stopReason: "completed", rounds: 2 });
    assert.equal(await value("added_latency_seconds_count"), 1);
    for (const name of ["added_latency", "time_to_first_token", "run_duration"]) {
      assert.ok((await value(`${name}_seconds_sum`)) >= 2, name);
    }
  });
});

suite("trace ids where nothing is recorded", () => {
  test("continue the caller's trace unchanged, in the log and in every request", () => {
    const { start, log } = setUp();
    const run = start({ traceparent: `00-${TRACE}-${SPAN}-01` });
    assert.equal(run.traceId, TRACE);
    assert.equal(log()[0].trace_id, TRACE);
    const sent = [run.startRound(1), run.startTool("t", "c", 1)].map(({ traceparent }) => traceparent);
    assert.deepEqual(sent, Array(2).fill(`00-${TRACE}-${SPAN}-01`));
  });

  test("are new ones where the caller has none or a wrong one", () => {
    const { start } = setUp();
    const ids = [undefined, "", "00-0-0-00"].map((traceparent) => {
      const run = start({ traceparent });
      assert.ok(run.startRound(1).traceparent.startsWith(`00-${run.traceId}-`));
      return run.traceId;
    });
    assert.equal(new Set(ids).size, 3);
  });
});
