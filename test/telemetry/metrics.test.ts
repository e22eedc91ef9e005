import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";

/** All lines of one metric without comments. */
async function lines(metrics: Metrics, name: string): Promise<string[]> {
  const text = await metrics.render();
  return text.split("\n").filter((line) => line.startsWith(name));
}

function countAll(metrics: Metrics, tool: string): void {
  const series = metrics.tool(tool);
  series.ended("ok", 0.1);
  series.verdict({ tool, gate: "schema", pass: true });
  series.coerced(1);
  series.repaired(["comment"]);
  series.refused();
}

const SERIES = [
  "toolweir_added_latency_seconds histogram",
  "toolweir_approvals_pending gauge",
  "toolweir_approvals_total counter",
  "toolweir_breaker_open gauge",
  "toolweir_breaker_opened_total counter",
  "toolweir_budget_refusals_total counter",
  "toolweir_canary_calls_total counter",
  "toolweir_coercions_total counter",
  "toolweir_corrections_total counter",
  "toolweir_gate_verdicts_total counter",
  "toolweir_history_results_left_out_total counter",
  "toolweir_http_requests_total counter",
  "toolweir_load gauge",
  "toolweir_log_lines_dropped_total counter",
  "toolweir_loop_guards_total counter",
  "toolweir_open_runs gauge",
  "toolweir_policy_actions_total counter",
  "toolweir_refusals_total counter",
  "toolweir_repairs_total counter",
  "toolweir_requests_refused_total counter",
  "toolweir_rounds_total counter",
  "toolweir_run_duration_seconds histogram",
  "toolweir_runs_cut_total counter",
  "toolweir_runs_total counter",
  "toolweir_runs_waiting gauge",
  "toolweir_selection_duration_seconds histogram",
  "toolweir_shared_results_total counter",
  "toolweir_time_to_first_token_seconds histogram",
  "toolweir_tool_calls_total counter",
  "toolweir_tool_duration_seconds histogram",
  "toolweir_unknown_outcomes_total counter",
  "toolweir_upstream_breaker_open gauge",
  "toolweir_upstream_breaker_opened_total counter",
  "toolweir_upstream_errors_total counter",
];

suite("render", () => {
  test("has every series of the gateway, with help and type, and those of the process", async () => {
    const metrics = createMetrics(() => true);
    const { contentType } = metrics;
    const text = await metrics.render();
    assert.match(contentType, /^text\/plain; ?version=/);
    const types = [...text.matchAll(/^# TYPE (toolweir_\S+) (\S+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    assert.deepEqual(types.sort(), SERIES);
    assert.equal(text.match(/^# HELP toolweir_\S+ .{10,}$/gm)?.length, types.length);
    assert.match(text, /^process_cpu_seconds_total /m);
    assert.match(text, /^nodejs_eventloop_lag_seconds /m);
  });

  test("shows what was counted, with its labels", async () => {
    const metrics = createMetrics(() => true);
    const series = metrics.tool("get_weather");
    series.ended("timeout", 0.2);
    series.verdict({ tool: "get_weather", gate: "schema", pass: false, problem: "missing" });
    series.coerced(3);
    series.repaired(["comment", "trailing_comma"]);
    metrics.openRuns.inc();
    metrics.openRuns.inc();
    metrics.runEnded("completed", 1.5);
    const text = await metrics.render();
    for (const line of [
      'toolweir_tool_calls_total{tool="get_weather",outcome="timeout"} 1',
      'toolweir_tool_duration_seconds_count{tool="get_weather"} 1',
      'toolweir_gate_verdicts_total{tool="get_weather",gate="schema",verdict="reject",problem="missing"} 1',
      'toolweir_coercions_total{tool="get_weather"} 3',
      'toolweir_repairs_total{tool="get_weather",kind="comment"} 1',
      'toolweir_repairs_total{tool="get_weather",kind="trailing_comma"} 1',
      "toolweir_open_runs 1",
      'toolweir_runs_total{stop_reason="completed"} 1',
      "toolweir_run_duration_seconds_sum 1.5",
    ]) {
      assert.ok(text.split("\n").includes(line), line);
    }
  });

  test("counts answers by pattern of the route, method and class of status", async () => {
    const metrics = createMetrics(() => true);
    metrics.countRequest("/tools/:name", "GET", 404);
    metrics.countRequest(undefined, "BREW", 200);
    assert.deepEqual(await lines(metrics, "toolweir_http_requests_total"), [
      'toolweir_http_requests_total{route="/tools/:name",method="GET",status_class="4xx"} 1',
      'toolweir_http_requests_total{route="none",method="other",status_class="2xx"} 1',
    ]);
  });
});

suite("labels are bounded", () => {
  const PER_TOOL = ["toolweir_tool_calls_total", "toolweir_gate_verdicts_total", "toolweir_coercions_total"];

  test("10,000 names that a model made up are one label, and leave the registered ones theirs", async () => {
    const metrics = createMetrics((tool) => tool === "real");
    for (let i = 0; i < 10_000; i++) countAll(metrics, `made_up_${i}"}\n`);
    countAll(metrics, "real");
    for (const name of PER_TOOL) {
      const [unknown, real, ...rest] = await lines(metrics, name);
      assert.match(unknown ?? "", /tool="unknown".* 10000$/);
      assert.match(real ?? "", /tool="real".* 1$/);
      assert.deepEqual(rest, []);
    }
  });

  test("10,000 registered names are at most 210 series of a counter", async () => {
    const metrics = createMetrics(() => true);
    for (let i = 0; i < 10_000; i++) countAll(metrics, `tool_${i}`);
    for (const name of PER_TOOL) {
      const found = await lines(metrics, name);
      assert.ok(found.length <= 210, `${name}: ${found.length}`);
      assert.match(found.at(-1) ?? "", /tool="other".* 9800$/);
    }
  });

  test("a reason that is not on the list is other", async () => {
    const metrics = createMetrics(() => true);
    for (let i = 0; i < 100; i++) metrics.runEnded(`reason ${i}`, 0);
    assert.deepEqual(await lines(metrics, "toolweir_runs_total"), [
      'toolweir_runs_total{stop_reason="other"} 100',
    ]);
  });
});
