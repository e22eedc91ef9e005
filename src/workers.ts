import cluster, { type Worker } from "node:cluster";
import { AggregatorRegistry, type Registry, type RegistryContentType } from "prom-client";
import { GatewayError } from "./errors.ts";

/** A pause before a worker that died is replaced; it grows with each one that dies soon. */
const RESTART_MS = { first: 100, most: 10_000 };
/** Who lives for so long has not died of its start. */
const SETTLED_MS = 60_000;
/** A worker that does not answer by then leaves its metrics out. Longer than the aggregator itself waits. */
const METRICS_MS = 6_000;

type Aggregator = AggregatorRegistry<RegistryContentType>;

interface MetricsRequest {
  toolweir: "metrics";
  id: number;
}
/** Without a text where not every worker has answered. */
type MetricsAnswer = MetricsRequest & { text?: string };

const isMetrics = (message: unknown): message is MetricsAnswer =>
  typeof message === "object" && message !== null && "toolweir" in message && message.toolweir === "metrics";

export interface WorkersOptions {
  count: number;
  onBegun(pid: number | undefined): void;
  /** One has died, and another one will begin. */
  onDied(pid: number | undefined, code: number | null): void;
}

/**
 * Runs so many processes on one port, until a signal. One that dies is replaced; but where one ends before any has listened, its start cannot
 * succeed, and all end. SIGTERM and SIGINT end all as they end one process; a second signal ends them at once. Resolves with the exit code: the
 * worst of theirs.
 */
export function runWorkers(options: WorkersOptions): Promise<number> {
  return new Leader(options).ended;
}

class Leader {
  readonly #options: WorkersOptions;
  readonly #aggregator: Aggregator = new AggregatorRegistry();
  readonly #living = new Set<Worker>();
  readonly #ended = Promise.withResolvers<number>();
  #hasListened = false;
  #isStopping = false;
  #deaths = 0;
  #worst = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.#stop());
    for (let n = 0; n < options.count; n++) this.#begin();
  }

  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  #begin(): void {
    const worker = cluster.fork();
    this.#living.add(worker);
    this.#options.onBegun(worker.process.pid);
    worker.once("listening", () => {
      this.#hasListened = true;
    });
    worker.on("message", (message) => void answerMetrics(this.#aggregator, worker, message));
    const settled = setTimeout(() => {
      this.#deaths = 0;
    }, SETTLED_MS).unref();
    worker.once("exit", (code: number | null, signal: string | null) => {
      clearTimeout(settled);
      this.#living.delete(worker);
      this.#left(worker, code, signal ? 1 : (code ?? 1));
    });
  }

  #left({ process: { pid } }: Worker, code: number | null, exit: number): void {
    const isHopeless = !this.#hasListened && !this.#isStopping;
    if (this.#isStopping || isHopeless) this.#worst = Math.max(this.#worst, exit);
    if (isHopeless) this.#stop();
    if (this.#isStopping) {
      this.#end();
      return;
    }
    this.#options.onDied(pid, code);
    const pause = Math.min(RESTART_MS.first * 2 ** this.#deaths++, RESTART_MS.most);
    setTimeout(() => {
      if (!this.#isStopping) this.#begin();
    }, pause);
  }

  #stop(): void {
    const signal = this.#isStopping ? "SIGKILL" : "SIGTERM";
    this.#isStopping = true;
    for (const worker of this.#living) worker.process.kill(signal);
    this.#end();
  }

  #end(): void {
    if (this.#living.size === 0) this.#ended.resolve(this.#worst);
  }
}

async function answerMetrics(aggregator: Aggregator, worker: Worker, message: unknown): Promise<void> {
  if (!isMetrics(message)) return;
  const { toolweir, id } = message;
  const text = await aggregator.clusterMetrics().catch(() => undefined);
  if (!worker.isConnected()) return;
  const answer: MetricsAnswer = { toolweir, id, ...(text !== undefined && { text }) };
  worker.send(answer);
}

/**
 * The metrics of all workers, asked for in one of them, whose own are in `register`. `undefined` in a process that is alone. Rejects with `not_ready` where not every
 * worker answers: figures that leave one out would look like a fall.
 */
export function metricsOfAll(register: Registry): (() => Promise<string>) | undefined {
  if (!cluster.isWorker) return undefined;
  AggregatorRegistry.setRegistries([register]);
  // Making one lets this process answer for its own.
  new AggregatorRegistry();
  const waiting = new Map<number, (text: string | undefined) => void>();
  let last = 0;
  process.on("message", (message) => {
    if (isMetrics(message)) waiting.get(message.id)?.(message.text);
  });
  return async () => {
    const id = ++last;
    const answer = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(() => answer.resolve(undefined), METRICS_MS);
    waiting.set(id, answer.resolve);
    process.send?.({ toolweir: "metrics", id } satisfies MetricsRequest);
    const text = await answer.promise;
    clearTimeout(timer);
    waiting.delete(id);
    if (text !== undefined) return text;
    throw new GatewayError("not_ready", "A worker does not tell its metrics.", {
      headers: { "retry-after": "1" },
    });
  };
}
