import cluster, { type Worker } from "node:cluster";
import { AggregatorRegistry, type Registry, type RegistryContentType } from "prom-client";

/** A pause before a worker that died is replaced; it grows with each one that dies soon. */
const RESTART_MS = { first: 100, most: 10_000 };
/** Who lives for so long has not died of its start. */
const SETTLED_MS = 60_000;

type Aggregator = AggregatorRegistry<RegistryContentType>;

interface MetricsRequest {
  toolweir: "metrics";
  id: number;
}
type MetricsAnswer = MetricsRequest & { text: string };

const isMetrics = (message: unknown): message is MetricsRequest =>
  typeof message === "object" && message !== null && "toolweir" in message && message.toolweir === "metrics";

export interface WorkersOptions {
  count: number;
  /** With this exit code a worker says that the settings are to blame; then none is replaced. */
  configFault: number;
  onBegun(pid: number | undefined): void;
  /** One has died, and another one will begin. */
  onDied(pid: number | undefined, code: number | null): void;
}

/**
 * Runs so many processes on one port, until a signal. One that dies is replaced. SIGTERM and SIGINT end all as they end one process; a second
 * signal ends them at once. Resolves with the exit code: the worst of theirs.
 */
export function runWorkers({ count, configFault, onBegun, onDied }: WorkersOptions): Promise<number> {
  const aggregator: Aggregator = new AggregatorRegistry();
  let worst = 0;
  let deaths = 0;
  let isStopping = false;
  const ended = Promise.withResolvers<number>();
  const begin = () => {
    const worker = cluster.fork();
    onBegun(worker.process.pid);
    worker.on("message", (message) => void answerMetrics(aggregator, worker, message));
    const settled = setTimeout(() => {
      deaths = 0;
    }, SETTLED_MS).unref();
    worker.once("exit", (code, signal) => {
      clearTimeout(settled);
      const exit = signal === null || signal === undefined ? code : 1;
      if (isStopping || code === configFault) worst = Math.max(worst, exit);
      if (code === configFault) stop("SIGTERM");
      if (isStopping) return end();
      onDied(worker.process.pid, code);
      setTimeout(() => !isStopping && begin(), Math.min(RESTART_MS.first * 2 ** deaths++, RESTART_MS.most));
    });
  };
  const end = () => {
    if (Object.keys(cluster.workers ?? {}).length === 0) ended.resolve(worst);
  };
  const stop = (signal: NodeJS.Signals) => {
    const how = isStopping ? "SIGKILL" : signal;
    isStopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(how);
    end();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop("SIGTERM"));
  for (let n = 0; n < count; n++) begin();
  return ended.promise;
}

async function answerMetrics(aggregator: Aggregator, worker: Worker, message: unknown) {
  if (!isMetrics(message)) return;
  const text = await aggregator.clusterMetrics().catch(() => "");
  if (worker.isConnected()) worker.send({ ...message, text } satisfies MetricsAnswer);
}

/** The metrics of all workers, asked for in one of them, whose own are in `register`. `undefined` in a process that is alone. */
export function metricsOfAll(register: Registry): (() => Promise<string>) | undefined {
  if (!cluster.isWorker) return undefined;
  AggregatorRegistry.setRegistries([register]);
  // Making one lets this process answer for its own.
  new AggregatorRegistry();
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;
  process.on("message", (message) => {
    if (!isMetrics(message)) return;
    waiting.get(message.id)?.((message as MetricsAnswer).text);
    waiting.delete(message.id);
  });
  return () =>
    new Promise((resolve) => {
      last++;
      waiting.set(last, resolve);
      process.send?.({ toolweir: "metrics", id: last } satisfies MetricsRequest);
    });
}
