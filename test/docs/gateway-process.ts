import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ROOT } from "./markdown.ts";

/** A gateway in a process of its own, as a user starts it. */
export interface GatewayProcess {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  /** Sends SIGTERM; resolves when the process has ended. */
  stop(): Promise<void>;
}

const START_MS = 30_000;
const STOP_MS = 10_000;

/**
 * Starts the gateway on a free loopback port, with a store in memory and `upstreamUrl` as its model server, and waits until
 * it is ready. Throws with what the process wrote if it ends first or takes longer than 30 s.
 */
export async function startGateway(upstreamUrl: string): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), "toolweir-docs-"));
  const config = join(folder, "toolweir.yaml");
  writeFileSync(config, "limits: { rounds: 10 }\n");
  const port = await freePort();
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: fileURLToPath(ROOT),
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      TOOLWEIR_CONFIG: config,
      TOOLWEIR_STORE: "memory:",
      TOOLWEIR_HOST: "127.0.0.1",
      TOOLWEIR_PORT: String(port),
      TOOLWEIR_UPSTREAM_URL: upstreamUrl,
      TOOLWEIR_UPSTREAM_KEY: "sk-of-the-examples",
    },
  });
  let written = "";
  child.stdout.on("data", (text) => (written += text));
  child.stderr.on("data", (text) => (written += text));
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  if (await isReady(url, child)) return { url, stop };
  await stop();
  throw new Error(`The gateway did not become ready. It wrote:\n${written.slice(-3000)}`);
}

async function isReady(url: string, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return true;
    await sleep(50);
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No port was given.");
  return address.port;
}
