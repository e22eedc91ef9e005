import { setTimeout as delay } from "node:timers/promises";
import { DiagLogLevel, diag, type Tracer, trace } from "@opentelemetry/api";
import type { Logger } from "pino";

/** Recording of spans for as long as the process runs. */
export interface Tracing {
  /** `undefined`: nothing is recorded. */
  readonly tracer: Tracer | undefined;
  /** Sends what is left, for at most 3 s. Never rejects. */
  shutdown(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const SHUTDOWN_MS = 3_000;

/**
 * Starts to export spans if the environment asks for it: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or
 * `OTEL_TRACES_EXPORTER` (other than `none`) is set, and `OTEL_SDK_DISABLED` is not `true`. Else the SDK, half a second of start and
 * 40 MB, is not even loaded. The SDK reads all other `OTEL_*` variables from the environment of the process. Only traces are
 * exported; what the SDK has to complain about goes to `log`.
 */
export async function startTracing(env: Environment, log: Logger): Promise<Tracing> {
  if (!isWanted(env)) return { tracer: undefined, shutdown: async () => {} };
  const { NodeSDK } = await import("@opentelemetry/sdk-node");
  const named = env["OTEL_SERVICE_NAME"] || env["OTEL_RESOURCE_ATTRIBUTES"]?.includes("service.name=");
  const sdk = new NodeSDK({
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
    ...(!named && { serviceName: "toolweir" }),
  });
  // After the constructor, which would put a logger of its own on standard output.
  reportTo(log);
  sdk.start();
  return {
    tracer: trace.getTracer("toolweir"),
    async shutdown() {
      const sent = sdk.shutdown().catch((error: unknown) => log.warn({ stage: "tracing", err: error }));
      await Promise.race([sent, delay(SHUTDOWN_MS, undefined, { ref: false })]);
      trace.disable();
    },
  };
}

function isWanted(env: Environment): boolean {
  const exporter = env["OTEL_TRACES_EXPORTER"]?.trim();
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true" || exporter === "none") return false;
  return Boolean(exporter || env["OTEL_EXPORTER_OTLP_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]);
}

function reportTo(log: Logger): void {
  const report = (message: string) => log.warn({ stage: "tracing", status: "problem" }, message);
  const ignore = () => {};
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
