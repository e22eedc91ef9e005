import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { after, suite, test } from "node:test";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { createTelemetry } from "../../src/telemetry/telemetry.ts";
import { startTracing } from "../../src/telemetry/tracing.ts";
import { readSpans, startSink } from "./otlp-sink.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

const loaded: string[] = [];
const hooks = registerHooks({
  resolve(specifier, context, next) {
    loaded.push(specifier);
    return next(specifier, context);
  },
});
after(() => hooks.deregister());

const warnings: string[] = [];
const destination = { write: (line: string) => void warnings.push(line) };
const logger = createLogger({ level: "warn", onDropped: () => {}, destination });

/** The SDK reads the environment of the process, so that is where its variables go for one test. */
async function tracingWith(env: Record<string, string>) {
  Object.assign(process.env, env);
  const tracing = await startTracing(process.env, logger);
  return {
    telemetry: createTelemetry({ logger, metrics: createMetrics(() => true), tracing }),
    async stop() {
      await tracing.shutdown();
      for (const name of Object.keys(env)) delete process.env[name];
    },
  };
}

const info = { runId: "run_1", sessionId: "ses_1", model: "gpt-x", stream: true };

suite("startTracing", { timeout: 60_000 }, () => {
  test("loads no SDK and has no tracer unless the environment asks for traces", async () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    for (const env of [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
      { OTEL_TRACES_EXPORTER: "none" },
      { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
      { ...endpoint, OTEL_SDK_DISABLED: "true" },
    ]) {
      const tracing = await startTracing(env, logger);
      assert.equal(tracing.tracer, undefined);
      await tracing.shutdown();
    }
    assert.deepEqual(
      loaded.filter((specifier) => specifier.includes("sdk-node")),
      [],
    );
  });

  test("exports in the standard's own format by default, and shutdown sends what is left", async () => {
    const sink = await startSink();
    const { telemetry, stop } = await tracingWith({ OTEL_EXPORTER_OTLP_ENDPOINT: sink.url });
    telemetry.startRun({ ...info, traceparent: undefined }).end({ stopReason: "completed", rounds: 0 });
    await stop();
    sink.close();
    assert.equal(sink.exports.length, 1);
    assert.deepEqual(
      [sink.exports[0]?.path, sink.exports[0]?.contentType],
      ["/v1/traces", "application/x-protobuf"],
    );
    assert.ok(sink.exports[0]?.body.includes("invoke_agent"));
    assert.deepEqual(warnings, []);
  });

  test("a collector that is not there holds up the shutdown for a few seconds at most", async () => {
    const sink = await startSink();
    sink.close();
    const { telemetry, stop } = await tracingWith({
      OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
      // Later than the bound under test, soon enough not to keep the process of this test.
      OTEL_EXPORTER_OTLP_TIMEOUT: "4000",
    });
    telemetry.startRun({ ...info, traceparent: undefined }).end({ stopReason: "completed", rounds: 0 });
    const startedAt = performance.now();
    await stop();
    assert.ok(performance.now() - startedAt < 20_000);
  });
});

suite("spans", { timeout: 60_000 }, () => {
  async function record(traceparent: string | undefined) {
    const sink = await startSink();
    const { telemetry, stop } = await tracingWith({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${sink.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
    });
    const run = telemetry.startRun({ ...info, traceparent });
    const round = run.startRound(1);
    const usage = { prompt_tokens: 12, completion_tokens: 3 };
    round.end({ finish: "tool_calls", upstream: "main", protocol: "native", usage });
    const tool = run.startTool("get_weather", "call_1", 1);
    tool.end({ outcome: "error", attempts: 2, durationMs: 5, errorKind: "unreachable" });
    run.end({ stopReason: "completed", rounds: 1 });
    await stop();
    sink.close();
    return { ...readSpans(sink.exports), run, round, tool };
  }

  test("are a tree of run, round and tool call below the caller's span", async () => {
    const { spans, service, run, round, tool } = await record(`00-${TRACE}-${SPAN}-01`);
    const [root, chat, call] = ["invoke_agent", "chat gpt-x", "execute_tool get_weather"].map((name) =>
      spans.get(name),
    );
    assert.equal(service, "toolweir");
    assert.equal(spans.size, 3);
    assert.deepEqual(
      [root?.parentSpanId, chat?.parentSpanId, call?.parentSpanId],
      [SPAN, root?.spanId, root?.spanId],
    );
    assert.deepEqual(
      [root?.traceId, chat?.traceId, call?.traceId, run.traceId],
      [TRACE, TRACE, TRACE, TRACE],
    );
    assert.equal(round.traceparent, `00-${TRACE}-${chat?.spanId}-01`);
    assert.equal(tool.traceparent, `00-${TRACE}-${call?.spanId}-01`);
  });

  test("have the names of the semantic conventions", async () => {
    const { spans } = await record(undefined);
    const chat = spans.get("chat gpt-x")?.attributes;
    const call = spans.get("execute_tool get_weather");
    assert.equal(spans.get("invoke_agent")?.attributes["gen_ai.conversation.id"], "ses_1");
    assert.equal(chat?.["gen_ai.operation.name"], "chat");
    assert.equal(chat?.["gen_ai.request.model"], "gpt-x");
    assert.deepEqual(
      [chat?.["gen_ai.usage.input_tokens"], chat?.["gen_ai.usage.output_tokens"]].map(Number),
      [12, 3],
    );
    assert.equal(call?.attributes["gen_ai.operation.name"], "execute_tool");
    assert.equal(call?.attributes["gen_ai.tool.name"], "get_weather");
    assert.equal(call?.attributes["gen_ai.tool.call.id"], "call_1");
    assert.deepEqual([call?.status.code, call?.attributes["error.type"]], [2, "unreachable"]);
  });

  test("begin a new trace where the caller's header is not valid", async () => {
    const { spans, run } = await record(`00-${"0".repeat(32)}-${SPAN}-01`);
    const root = spans.get("invoke_agent");
    assert.match(run.traceId, /^(?!0{32})[0-9a-f]{32}$/);
    assert.equal(root?.traceId, run.traceId);
    assert.ok(!root?.parentSpanId);
  });
});
