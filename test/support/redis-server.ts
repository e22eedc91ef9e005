import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";

/** A real redis-server of a test's own. */
export interface RedisServer {
  url: string;
  port: number;
  process: ChildProcess;
  /** Forgets everything. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Why there is no redis-server here, for `skip`; `false` where there is one. Continuous integration must have one. */
export function noRedis(): string | false {
  try {
    execFileSync("redis-server", ["--version"]);
    return false;
  } catch {
    if (process.env["CI"]) throw new Error("redis-server is missing");
    return "redis-server is not installed (apt-get install redis-server)";
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address && typeof address === "object" ? address.port : 0;
}

/** Starts a server on a free port, or on `port`, with further settings as arguments. */
export async function startRedis(...settings: string[]): Promise<RedisServer> {
  const given = settings.indexOf("--port");
  const port = given < 0 ? await freePort() : Number(settings[given + 1]);
  const folder = mkdtempSync(join(tmpdir(), "toolweir-redis-"));
  const common = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const server = spawn("redis-server", [...common, ...settings], { stdio: "ignore" });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const url = `redis://127.0.0.1:${port}/0`;
  await answering(port);
  return {
    url,
    port,
    process: server,
    flush: () => withClient(port, (client) => client.flushall()),
    async stop() {
      server.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function withClient(port: number, work: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis({ port, host: "127.0.0.1", lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    client.disconnect();
  }
}

async function answering(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const isThere = await withClient(port, (client) => client.ping()).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await delay(50);
  }
  throw new Error("redis-server does not answer");
}
