import type { CheckedTool } from "../../core/tool-definition.ts";
import { fileEtag, type RegisteredTool, toRegistered } from "./tool-snapshot.ts";

/** A checked tool that came from a file. */
export interface FileTool {
  file: string;
  tool: CheckedTool;
  /** Unix milliseconds. */
  updatedAt: number;
}

/** The tools that came from files, with versions that count up while the process runs. */
export class FileTools {
  #tools = new Map<string, RegisteredTool>();
  /** Outlives the files, so that a name that comes back does not begin at 1 again. */
  readonly #versions = new Map<string, number>();

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  list(): RegisteredTool[] {
    return [...this.#tools.values()];
  }

  /** Replaces all; one that has not changed stays what it was. */
  replace(tools: readonly FileTool[]): void {
    const next = new Map<string, RegisteredTool>();
    for (const { tool, updatedAt } of tools) {
      const { name } = tool.definition;
      const etag = fileEtag(tool.definition);
      const before = this.#tools.get(name);
      if (before?.etag === etag) {
        next.set(name, before);
        continue;
      }
      const version = (this.#versions.get(name) ?? 0) + 1;
      this.#versions.set(name, version);
      next.set(name, toRegistered(tool, { version, updatedAt, etag }));
    }
    this.#tools = next;
  }
}
