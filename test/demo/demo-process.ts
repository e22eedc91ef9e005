import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PATIENCE_MS = 60_000;

/** A demo in a process of its own, and what it has written so far. */
export class DemoProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.#child = spawn(process.execPath, ["demo/demo.ts", ...args], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], ...env },
      timeout: PATIENCE_MS,
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#ended = once(this.#child, "close").then(([code]) => code as number | null);
  }

  /** The exit code; `null` after a signal that was not handled. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  /** Waits until the output matches, and returns what the first group caught. Throws when the process ends without it. */
  async shows(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match) return match[1] ?? "";
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`The demo ended without ${pattern}:\n${this.stdout}\n${this.stderr}`);
      }
      await sleep(20);
    }
  }

  /** Ends it as Ctrl-C does. */
  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  /** Ends it for good, whatever it does. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
