import cluster from "node:cluster";
import closeWithGrace from "close-with-grace";
import { type App, buildApp } from "./app.ts";
import { type Config, loadConfig } from "./config.ts";
import { ConfigError } from "./config-faults.ts";
import { drain } from "./drain.ts";
import { StoreError } from "./stores/store-error.ts";
import { createLogger } from "./telemetry/logger.ts";
import { startTracing } from "./telemetry/tracing.ts";
import { runWorkers } from "./workers.ts";

/** EX_CONFIG of sysexits.h: the settings cannot be used. */
const EXIT_CONFIG = 78;
/** After a stop was asked for: how long open runs may go on, and how long those that were cut off have to end. */
const DRAIN = { openMs: 25_000, graceMs: 10_000 };
/** For the last spans and lines. */
const FLUSH_MS = 5_000;

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  if (config.workers > 1 && cluster.isPrimary) return lead(config);
  const app = await buildApp({
    config,
    env: process.env,
    startTracing: (log) => startTracing(process.env, log),
  });
  stopOnSignals(app);
  for (const notice of config.notices) app.log.warn({ stage: "start", status: "notice" }, notice);
  if (config.adminKey === undefined) {
    app.log.warn(
      { stage: "start", status: "open" },
      "There is no admin key: anyone on this machine can manage the gateway.",
    );
  }
  const address = await app.server.listen({ host: config.host, port: config.port, backlog: 4096 });
  app.log.info({ stage: "start", status: "listening", address }, `Toolweir listens on ${address}`);
}

/** Several processes serve, and this one looks after them. */
async function lead({ workers: count, logLevel: level }: Config): Promise<void> {
  const log = createLogger({ level, onDropped() {} });
  log.info({ stage: "start", status: "workers", count });
  const code = await runWorkers({
    count,
    onBegun: (pid) => log.info({ stage: "workers", status: "begun", pid }),
    onDied: (pid, code) =>
      log.error({ stage: "workers", status: "died", pid, code }, "A worker is replaced."),
  });
  process.exit(code);
}

/** SIGTERM and SIGINT: no new work, open runs may end, then everything is closed. A second signal ends at once. */
function stopOnSignals(app: App): void {
  const delay = DRAIN.openMs + DRAIN.graceMs + FLUSH_MS;
  // On a terminal SIGINT reaches every process; whoever leads the workers tells them once.
  const skip: closeWithGrace.Signals[] = cluster.isWorker ? ["SIGINT"] : [];
  for (const signal of skip) process.on(signal, () => {});
  closeWithGrace({ delay, logger: false, skip }, async ({ err }) => {
    if (err) app.log.fatal({ stage: "stop", status: "failed", err });
    const cut = await drain(app, DRAIN);
    await app.tracing.shutdown();
    app.log.info({ stage: "stop", status: cut ? "cut" : "clean" });
    // Left to end by itself the process would say that all went well.
    if (cut) process.exit(1);
  });
}

/** Why the settings are to blame for a failed start, in words for the operator; `undefined` where they are not. */
function faultOfSettings(error: unknown): string | undefined {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof StoreError) return `Toolweir cannot start: ${error.message}`;
  const { code, syscall, hostname, address } = error as NodeJS.ErrnoException & Record<string, unknown>;
  if (code === "ENOTFOUND" && syscall === "getaddrinfo") {
    return `Toolweir cannot start: the host ${String(hostname)} to listen on has no address.`;
  }
  if (code === "EADDRNOTAVAIL") {
    return `Toolweir cannot start: ${String(address)} is no address of this machine to listen on.`;
  }
  return undefined;
}

/** A plain `Error` has a text for the operator; any other class is a fault of the program, whose place is wanted too. */
function explain(error: unknown): unknown {
  return error instanceof Error && error.name === "Error" ? error.message : error;
}

try {
  await start();
} catch (error) {
  const fault = faultOfSettings(error);
  if (fault !== undefined) {
    console.error(fault);
    process.exit(EXIT_CONFIG);
  }
  console.error("Toolweir cannot start:", explain(error));
  process.exit(1);
}
