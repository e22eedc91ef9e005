import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { CheckedTool } from "../core/tool-definition.ts";
import { problemsOf, type ToolProblem } from "../engine/registry/definition-faults.ts";
import type { FileTool } from "../engine/registry/file-tools.ts";
import { GatewayError } from "../errors.ts";

export interface ToolFilesOptions {
  /** Judges one definition; throws `GatewayError`. */
  check(input: unknown): CheckedTool;
  /** Gets all tools of all files, at first and after every change. */
  onChange(tools: readonly FileTool[]): void;
  /** One call for each fault, once for each state of a file. */
  onProblem(problem: ToolProblem): void;
  /** Milliseconds between two looks at the folder. A change is taken up after two looks. */
  pollMs?: number;
}

export interface ToolFiles {
  /** Resolves when nothing is being read any more and nothing will be called. */
  close(): Promise<void>;
}

interface FileState {
  /** Identity, size and time of what was read last. */
  loaded: string;
  /** What the last look saw, while it differs from `loaded`. */
  pending: string | undefined;
  tools: readonly FileTool[];
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The tools in the `*.yaml`, `*.yml` and `*.json` files of a folder, one definition or an array of them in each.
 *
 * 1. When the promise resolves, the files have been read once and `onChange` has been called. A missing folder is an empty one.
 * 2. A changed, new or deleted file takes effect within a second, and only when two looks in a row saw it in the same state,
 *    so that a file is not read while it is being written. Looking works where file events do not (mounted volumes).
 * 3. A file with any fault changes nothing: its last good tools stay.
 * 4. Of two files with a tool of the same name the first in alphabetical order has it; the other is reported.
 */
export async function watchToolFiles(dir: string, options: ToolFilesOptions): Promise<ToolFiles> {
  const folder = new ToolFolder(dir, options);
  await folder.look("now");
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  const schedule = () => {
    if (closed) return;
    timer = setTimeout(() => {
      looking = folder.look("settled").then(schedule);
    }, options.pollMs ?? 300).unref();
  };
  schedule();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

class ToolFolder {
  readonly #dir: string;
  readonly #options: ToolFilesOptions;
  #files = new Map<string, FileState>();
  #folderProblem = "";

  constructor(dir: string, options: ToolFilesOptions) {
    this.#dir = dir;
    this.#options = options;
  }

  /** Takes up what has changed: `now`, or only what has not changed since the last look. Never rejects. */
  async look(when: "now" | "settled"): Promise<void> {
    try {
      const changed = await this.#scan(when);
      this.#folderProblem = "";
      if (changed || when === "now") this.#options.onChange(this.#collect());
    } catch (error) {
      const message = text(error);
      if (message !== this.#folderProblem) this.#options.onProblem({ source: this.#dir, path: "", message });
      this.#folderProblem = message;
    }
  }

  async #scan(when: "now" | "settled"): Promise<boolean> {
    const stamps = await this.#stamps();
    let changed = false;
    for (const name of this.#files.keys()) {
      if (!stamps.has(name)) changed = this.#files.delete(name);
    }
    for (const [name, stamp] of stamps) {
      const state = this.#files.get(name) ?? { loaded: "", pending: undefined, tools: [] };
      this.#files.set(name, state);
      const isDue = when === "now" || state.pending === stamp;
      state.pending = state.loaded === stamp ? undefined : stamp;
      if (state.pending === undefined || !isDue) continue;
      state.loaded = stamp;
      const tools = await this.#read(name);
      if (!tools) continue;
      state.tools = tools;
      changed = true;
    }
    return changed;
  }

  async #stamps(): Promise<Map<string, string>> {
    const stamps = new Map<string, string>();
    for (const name of (await this.#names()).sort()) {
      const found = await stat(join(this.#dir, name), { bigint: true }).catch(() => undefined);
      if (found?.isFile()) stamps.set(name, `${found.ino}:${found.size}:${found.mtimeNs}`);
    }
    return stamps;
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#dir)).filter((name) => /^[^.].*\.(ya?ml|json)$/i.test(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }

  /** The tools of one file, or `undefined` after its faults have been reported. */
  async #read(name: string): Promise<FileTool[] | undefined> {
    const file = join(this.#dir, name);
    let content: unknown;
    let updatedAt: number;
    try {
      updatedAt = Math.floor((await stat(file)).mtimeMs);
      // Through JSON: no references shared between tools, nothing that is not JSON.
      content = JSON.parse(JSON.stringify(parse(await readFile(file, "utf8"), { logLevel: "error" }) ?? []));
    } catch (error) {
      // What JSON cannot write is a value that holds itself.
      const message = error instanceof TypeError ? "An alias leads back to itself." : text(error).trim();
      this.#options.onProblem({ source: file, path: "", message });
      return undefined;
    }
    const inputs: unknown[] = Array.isArray(content) ? content : [content];
    const problems: ToolProblem[] = [];
    const tools = inputs.flatMap((input, index) => {
      try {
        return [{ file, tool: this.#options.check(input), updatedAt }];
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        problems.push(...problemsOf(file, error, Array.isArray(content) ? `[${index}]` : ""));
        return [];
      }
    });
    for (const problem of problems) this.#options.onProblem(problem);
    return problems.length > 0 ? undefined : tools;
  }

  /** All tools, each name once. */
  #collect(): FileTool[] {
    const byName = new Map<string, FileTool>();
    const files = [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const entry of files.flatMap(([, { tools }]) => tools)) {
      const { name } = entry.tool.definition;
      const first = byName.get(name);
      if (first) {
        const message = `"${name}" is defined in ${first.file} already; this definition is not used.`;
        this.#options.onProblem({ source: entry.file, path: "name", message });
      } else {
        byName.set(name, entry);
      }
    }
    return [...byName.values()];
  }
}
