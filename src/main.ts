import { setTimeout as delay } from "node:timers/promises";
import closeWithGrace from "close-with-grace";
import { type App, buildApp } from "./app.ts";
import { loadConfig } from "./config.ts";
import { ConfigError } from "./config-faults.ts";
import { startTracing } from "./telemetry/tracing.ts";

/** EX_CONFIG of sysexits.h: the settings cannot be used. */
const EXIT_CONFIG = 78;
/** How long open runs may go on after a stop was asked for. */
const DRAIN_MS = 25_000;
const GRACE_MS = 10_000;

async function start(): Promise<void> {
  const config = loadConfig(process.env);
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

/** SIGTERM and SIGINT: no new work, open runs may end, then everything is closed. A second signal ends at once. */
function stopOnSignals(app: App): void {
  closeWithGrace({ delay: DRAIN_MS + GRACE_MS, logger: false }, async ({ err }) => {
    if (err) app.log.fatal({ stage: "stop", status: "failed", err });
    app.retire();
    const cut = await drain(app);
    await app.tracing.shutdown();
    app.log.info({ stage: "stop", status: cut ? "cut" : "clean" });
    process.exitCode = cut ? 1 : 0;
  });
}

/** Returns whether a run had to be cut off. */
async function drain({ server, engine }: App): Promise<boolean> {
  const closed = server.close();
  let cut = false;
  const deadline = delay(DRAIN_MS, undefined, { ref: false }).then(() => {
    cut = engine.openRuns > 0;
    engine.cutOff();
    server.server.closeAllConnections();
  });
  await Promise.race([closed, deadline.then(() => closed)]);
  return cut;
}

try {
  await start();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(EXIT_CONFIG);
}
