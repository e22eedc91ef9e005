import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { GatewayError } from "../../src/errors.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { createTelemetry } from "../../src/telemetry/telemetry.ts";

const HOSTILE = 10_000;

const logger = createLogger({ level: "silent", onDropped: () => {}, destination: { write: () => {} } });

/** How many series there are, and the text that they are in. */
async function seriesOf(metrics: ReturnType<typeof createMetrics>) {
  const text = await metrics.render();
  return { text, count: text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length };
}

/** One run of a caller who chooses every name it may choose; `word` is in all of them. */
function hostileRun(
  telemetry: ReturnType<typeof createTelemetry>,
  metrics: ReturnType<typeof createMetrics>,
  word: string,
) {
  const run = telemetry.startRun({
    runId: `run_${word}`,
    sessionId: `${word}\n# HELP x`,
    model: `${word}"} 1`,
    stream: true,
    traceparent: word,
  });
  const fault = new GatewayError("upstream_error", `message ${word} http://x.example/?key=${word}`);
  run
    .startRound(1)
    .end({ finish: word, upstream: "main", protocol: "native", usage: { [word]: 1 }, error: fault });
  run.upstreamFailed("main", fault);
  run.verdict({ tool: word, gate: "name", pass: false, problem: "unknown_tool" }, word);
  run.refused(word);
  run.repaired(word, ["comment"]);
  run.coerced(word, 1);
  run.canary(word, "ok");
  run.shared(word, "none");
  run.policy({ tool: word, class: "transient", action: "fallback", parameters: [word] }, word);
  run
    .startTool(word, word, 1)
    .end({ outcome: "error", attempts: 1, durationMs: 1, errorKind: word, argumentsSha256: word });
  telemetry.ledger({ tool: word, id: word, runId: word, sessionId: word, step: "outcome_unknown" });
  run.end({ stopReason: word, rounds: 1, error: fault });
  metrics.countRequest(undefined, word.toUpperCase(), 404);
}

suite("labels", () => {
  test(`${HOSTILE} names of models, tools, sessions, methods and messages add at most 50 series`, async () => {
    const metrics = createMetrics((tool) => tool === "get_weather");
    const telemetry = createTelemetry({ logger, metrics, tracing: { tracer: undefined } });
    hostileRun(telemetry, metrics, "warm-up-of-every-series");
    const before = await seriesOf(metrics);
    for (let index = 0; index < HOSTILE; index++) hostileRun(telemetry, metrics, `evil-${index}`);
    const after = await seriesOf(metrics);
    assert.ok(after.count - before.count <= 50, `${before.count} -> ${after.count}`);
    assert.equal(after.text.includes("evil-"), false);
    assert.equal(after.text.includes("warm-up"), false);
    assert.match(after.text, /^toolweir_runs_total\{stop_reason="other"\} 10001$/m);
    assert.match(after.text, /^toolweir_tool_calls_total\{tool="unknown",outcome="error"\} 10001$/m);
  });

  test("tools that were registered share one label above 200", async () => {
    const metrics = createMetrics(() => true);
    const telemetry = createTelemetry({ logger, metrics, tracing: { tracer: undefined } });
    for (let index = 0; index < 300; index++) hostileRun(telemetry, metrics, `tool-${index}`);
    const before = await seriesOf(metrics);
    for (let index = 300; index < 3_000; index++) hostileRun(telemetry, metrics, `tool-${index}`);
    const after = await seriesOf(metrics);
    assert.equal(after.count, before.count);
    const tools = new Set(after.text.match(/(?<=toolweir_refusals_total\{tool=")[^"]+/g));
    assert.equal(tools.size, 201);
  });
});

test("names of the GenAI conventions stand in one file", () => {
  const root = new URL("../../src/", import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const holders = files.filter((file) => readFileSync(new URL(file, root), "utf8").includes("gen_ai."));
  assert.deepEqual(holders, ["telemetry/semantic-names.ts"]);
});

suite("log_share", () => {
  function linesOf(logShare: number, level: string, runs: number, stopWith?: GatewayError) {
    const lines: { trace_id: string; level: string }[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const telemetry = createTelemetry({
      logger: createLogger({ level, onDropped: () => {}, destination }),
      metrics: createMetrics(() => true),
      tracing: { tracer: undefined },
      logShare,
    });
    for (let index = 0; index < runs; index++) {
      const last = ((index * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, "0");
      const traceparent = `00-4bf92f3577b34da6a3ce929d${last}-00f067aa0ba902b7-01`;
      const info = { runId: `run_${index}`, sessionId: "s", model: "m", stream: false, traceparent };
      telemetry
        .startRun(info)
        .end({ stopReason: "completed", rounds: 1, ...(stopWith && { error: stopWith }) });
    }
    return lines;
  }

  test("logs whole runs or nothing of them, in about that share", () => {
    const lines = linesOf(0.25, "info", 1_000);
    const runs = new Map<string, number>();
    for (const { trace_id: id } of lines) runs.set(id, (runs.get(id) ?? 0) + 1);
    assert.ok(runs.size > 200 && runs.size < 300, String(runs.size));
    assert.deepEqual([...new Set(runs.values())], [2]);
    const again = new Set(linesOf(0.25, "info", 1_000).map((line) => line.trace_id));
    assert.deepEqual(again, new Set(runs.keys()));
  });

  test("keeps warnings of every run, and a level that is stricter", () => {
    const failed = new GatewayError("upstream_error", "no");
    const levels = (level: string) => linesOf(0, level, 10, failed).map((line) => line.level);
    assert.deepEqual(levels("info"), Array(10).fill("warn"));
    assert.deepEqual(levels("error"), []);
  });

  test("1 logs everything, 0 nothing that went well", () => {
    assert.equal(linesOf(1, "info", 10).length, 20);
    assert.equal(linesOf(0, "info", 10).length, 0);
  });
});
