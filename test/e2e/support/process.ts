import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Cleanup } from "./gateway.ts";
import { eventually } from "./open-stream.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export interface ProcessOptions {
  /** The text of `toolweir.yaml`. */
  yaml?: string;
  env?: Record<string, string>;
}

/** `node src/main.ts` with a port of its own and a store in memory. It is killed with the test. */
export class GatewayProcess {
  readonly url: string;
  stdout = "";
  stderr = "";
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  /** When it ended, on the same clock. */
  endedAt: number | undefined;
  readonly #child: ChildProcess;

  constructor(t: Cleanup, port: number, { yaml = "", env = {} }: ProcessOptions) {
    this.url = `http://127.0.0.1:${port}`;
    const folder = mkdtempSync(join(tmpdir(), "toolweir-e2e-"));
    const config = join(folder, "toolweir.yaml");
    writeFileSync(config, yaml);
    this.#child = spawn(process.execPath, ["src/main.ts"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: { TOOLWEIR_CONFIG: config, TOOLWEIR_STORE: "memory:", TOOLWEIR_PORT: String(port), ...env },
    });
    this.#child.stdout?.on("data", (text) => (this.stdout += text));
    this.#child.stderr?.on("data", (text) => (this.stderr += text));
    this.#child.once("close", () => (this.endedAt = performance.now()));
    t.after(() => {
      this.#child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** Resolves when `/readyz` answers 200; throws with what the process wrote if it does not. */
  async ready(ms = 30_000): Promise<void> {
    const holds = async () => (await this.readiness()) === 200;
    await eventually("the gateway is ready", holds, ms).catch((error: Error) => {
      throw new Error(`${error.message} It wrote:\n${this.stdout}${this.stderr}`);
    });
  }

  /** The status of `/readyz` on a new connection; 0 where none is taken. */
  readiness(): Promise<number> {
    return fetch(`${this.url}/readyz`, { headers: { connection: "close" } }).then(
      (response) => response.status,
      () => 0,
    );
  }

  signal(name: NodeJS.Signals): number {
    this.#child.kill(name);
    return performance.now();
  }

  /** Resolves with the exit status when the process has ended and all it wrote is here; throws after `ms`. */
  async exit(ms = 30_000): Promise<number | null> {
    await eventually("the gateway ends", () => this.endedAt !== undefined, ms);
    return this.#child.exitCode;
  }
}

/** Starts the gateway as its users do. */
export async function startProcess(t: Cleanup, options: ProcessOptions = {}): Promise<GatewayProcess> {
  return new GatewayProcess(t, await freePort(), options);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
