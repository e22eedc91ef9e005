import { mergePatch } from "../../core/json/merge-patch.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { compileSchema } from "../../core/schema/compile-schema.ts";
import type { CompiledSchema } from "../../core/schema/compiled-schema.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { type CheckedTool, checkToolDefinition, refusedDefinition } from "../../core/tool-definition.ts";
import type { AllowUrl } from "../../core/tool-endpoint.ts";
import { type LintNote, note } from "../../core/tool-lint-note.ts";
import { lintAmong } from "../../core/tool-lint-registry.ts";
import { checkFallbackCycle, lintDeprecated, lintFallback } from "../../core/tool-policy.ts";
import { GatewayError } from "../../errors.ts";
import type { StoredTool, ToolStore } from "../ports/stores.ts";
import { changeNotes } from "./change-notes.ts";
import { isObject, named, notFound, noVersion, problemsOf, type ToolProblem } from "./definition-faults.ts";
import { type FileTool, FileTools } from "./file-tools.ts";
import {
  createSnapshot,
  type RegisteredTool,
  storedEtag,
  type ToolSnapshot,
  toRegistered,
} from "./tool-snapshot.ts";

/** Judges the current entity tag (`undefined`: there is no such tool) before a change; `false` refuses the change. */
export type Precondition = (etag: string | undefined) => boolean;

/** Judges a change of a definition for whoever makes it. Throws the refusal. */
export type Guard = (before: ToolDefinition | undefined, after: CheckedTool["definition"]) => void;

export interface RegistryOptions {
  /** The network policy for tool URLs. */
  allowUrl?: AllowUrl;
  onProblem?: (problem: ToolProblem) => void;
}

/** What is in force under a name: in the store, or else in a file. */
interface Current {
  stored: StoredTool | undefined;
  etag: string | undefined;
  definition: ToolDefinition | undefined;
}

/** A tool that was stored, and what calls made for the version before would not fit in it. */
export interface Written {
  tool: RegisteredTool;
  changes: readonly LintNote[];
}

/**
 * The tools of the gateway: those stored over REST and those from files.
 *
 * 1. `snapshot` never changes; a change makes a new one, which holds before the promise of the change resolves.
 * 2. A stored tool hides the file tool of its name; deleting it shows that one again.
 * 3. Changes happen one after the other; a change that is refused leaves everything as it was.
 * 4. A stored definition that is no longer valid is reported and not offered; it can be replaced or deleted.
 */
export class ToolRegistry {
  readonly #store: ToolStore;
  readonly #options: RegistryOptions;
  readonly #stored = new Map<string, RegisteredTool>();
  readonly #files = new FileTools();
  #snapshot = createSnapshot(0, []);
  #isRead = false;
  #lastChange: Promise<unknown> = Promise.resolve();

  /** Without what the store holds, until `refresh` has read it. */
  constructor(store: ToolStore, options: RegistryOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Reads what the store holds, also what other processes have changed. Rejects with `store_unavailable`; then all stays as it was. */
  refresh(): Promise<void> {
    return this.#serially(async () => {
      const inStore = new Map((await this.#store.list()).map((tool) => [tool.definition.name, tool]));
      for (const [name, { definition }] of this.#stored) {
        if (inStore.get(name)?.definition.version === definition.version) inStore.delete(name);
        else this.#stored.delete(name);
      }
      for (const stored of inStore.values()) await this.#load(stored);
      this.#isRead = true;
      this.#publish();
    });
  }

  /** Whether the store has told what it holds. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** The tools from now on. */
  snapshot(): ToolSnapshot {
    return this.#snapshot;
  }

  /** All advice about a definition: what it earns by itself, and how it stands beside the other tools in force. */
  advice({ definition, lint }: Pick<CheckedTool, "definition"> & { lint: readonly LintNote[] }): LintNote[] {
    const { names, get, list } = this.#snapshot;
    const tools = list().map((tool) => tool.definition);
    const find = (name: string) => get(name)?.definition;
    return [
      ...lint,
      ...lintAmong(definition, tools),
      ...lintFallback(definition, find, names),
      ...lintDeprecated(definition, find, names),
    ];
  }

  /** What calls made for the version in force would not fit in this definition. */
  changesOf(definition: CheckedTool["definition"]): LintNote[] {
    const inForce = this.#snapshot.get(definition.name);
    return inForce ? changeNotes(inForce.definition, definition) : [];
  }

  /** Judges a definition under this registry's network policy and stores nothing. Throws as `checkToolDefinition` does. */
  check(input: unknown): CheckedTool {
    const { allowUrl } = this.#options;
    const compile = (parameters: JsonObject | undefined) => this.#compile(input, parameters);
    const checked = checkToolDefinition(input, { compile, ...(allowUrl && { allowUrl }) });
    const [circle] = checkFallbackCycle(checked.definition, (name) => this.#snapshot.get(name)?.definition);
    if (circle) throw refusedDefinition([circle]);
    return checked;
  }

  /** Judges as `put` does and stores nothing. Throws as `put` does. */
  async judge(input: unknown): Promise<CheckedTool> {
    const checked = this.check(input);
    await this.#canary(checked.definition);
    return checked;
  }

  /** Creates or replaces. Throws what `check` throws, `precondition_failed`, or `store_unavailable`. */
  put(
    name: string,
    input: unknown,
    allows?: Precondition,
    guard?: Guard,
  ): Promise<Written & { created: boolean }> {
    return this.#serially(async () => {
      const current = await this.#current(name, allows);
      const written = await this.#write(this.check(named(name, input)), current, guard);
      return { ...written, created: current.etag === undefined };
    });
  }

  /** Creates. Throws as `put` does, and `tool_exists`. */
  create(input: unknown, guard?: Guard): Promise<Written> {
    return this.#serially(async () => {
      const name = isObject(input) && "name" in input ? String(input.name) : "";
      const current = await this.#current(name);
      if (current.etag !== undefined)
        throw new GatewayError("tool_exists", `There is a tool "${name}" already.`);
      return this.#write(this.check(input), current, guard);
    });
  }

  /** Applies a JSON Merge Patch (RFC 7396) to the definition. Throws as `put` does, and `tool_not_found`. */
  patch(name: string, patch: unknown, allows?: Precondition, guard?: Guard): Promise<Written> {
    return this.#serially(async () => {
      const current = await this.#current(name, allows);
      if (!current.definition) throw notFound(name);
      const merged = mergePatch({ ...current.definition } as unknown as JsonObject, patch as JsonValue);
      return this.#write(this.check(named(name, merged)), current, guard);
    });
  }

  /** Stores an earlier version again, as a new one. Throws as `put` does, `tool_not_found` and `version_not_found`. */
  rollback(name: string, version: number, allows?: Precondition, guard?: Guard): Promise<Written> {
    return this.#serially(async () => {
      const current = await this.#current(name, allows);
      const earlier = (await this.versions(name)).find(({ definition }) => definition.version === version);
      if (!earlier || !current.stored) throw noVersion(name, version);
      return this.#write(this.check(earlier.definition), current, guard);
    });
  }

  /** Deletes the stored tool. Throws `tool_not_found`, `tool_is_file`, `precondition_failed` or `store_unavailable`. */
  delete(name: string, allows?: Precondition): Promise<void> {
    return this.#serially(async () => {
      const { stored, etag } = await this.#current(name, allows);
      if (etag === undefined) throw notFound(name);
      if (!stored) {
        throw new GatewayError("tool_is_file", `"${name}" comes from a tool file; remove it from that file.`);
      }
      await this.#store.delete(name, stored.definition.version);
      this.#stored.delete(name);
      this.#publish();
    });
  }

  /** Every version ever stored, oldest first; the one in force for a tool from a file. Throws `tool_not_found`. */
  async versions(name: string): Promise<readonly StoredTool[]> {
    const stored = await this.#store.versions(name);
    if (stored.length > 0) return stored;
    const tool = this.#files.get(name);
    if (!tool) throw notFound(name);
    return [tool];
  }

  /** Replaces all tools that came from files. */
  setFileTools(tools: readonly FileTool[]): void {
    this.#files.replace(tools);
    this.#publish();
  }

  async #load(stored: StoredTool): Promise<void> {
    const { name } = stored.definition;
    try {
      this.#stored.set(name, await this.#registered(this.check(stored.definition), stored));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      for (const problem of problemsOf(`store: ${name}`, error)) this.#options.onProblem?.(problem);
    }
  }

  /** What is in force under a name, after `allows` has agreed to change it. */
  async #current(name: string, allows: Precondition = () => true): Promise<Current> {
    const stored = await this.#store.get(name);
    const file = this.#files.get(name);
    const etag = stored ? storedEtag(stored.definition.version) : file?.etag;
    if (!allows(etag)) {
      throw new GatewayError(
        "precondition_failed",
        `The tool "${name.slice(0, 64)}" is not in the state you named.`,
        {
          ...(etag !== undefined && { headers: { etag } }),
        },
      );
    }
    return { stored, etag, definition: stored?.definition ?? file?.definition };
  }

  /** A stored tool with its canary. Throws `invalid_tool_definition` for a canary that is no version of the tool. */
  async #registered(checked: CheckedTool, { definition, updatedAt }: StoredTool): Promise<RegisteredTool> {
    const { version } = definition;
    const canary = await this.#canary(checked.definition);
    return toRegistered(checked, { version, updatedAt, etag: storedEtag(version), canary });
  }

  async #canary({ name, canary }: CheckedTool["definition"]): Promise<RegisteredTool["canary"]> {
    if (!canary) return undefined;
    const versions = await this.#store.versions(name);
    const other = versions.find(({ definition }) => definition.version === canary.version);
    if (!other) {
      const there = versions.map(({ definition }) => definition.version).join(", ");
      const message = `"canary.version": there is no version ${canary.version} of this tool; ${there === "" ? "it has none yet" : `it has ${there}`}.`;
      throw refusedDefinition([{ reason: "unknown_version", path: "canary.version", message }]);
    }
    const { version } = other.definition;
    const origin = { version, updatedAt: other.updatedAt, etag: storedEtag(version) };
    return { tool: toRegistered(this.check(other.definition), origin), percent: canary.percent };
  }

  async #write(
    checked: CheckedTool,
    { stored: before, definition }: Current,
    guard?: Guard,
  ): Promise<Written> {
    guard?.(definition, checked.definition);
    await this.#canary(checked.definition);
    const stored = await this.#store.put(checked.definition, before?.definition.version ?? 0);
    if (!stored)
      throw new GatewayError("precondition_failed", "Somebody else changed this tool just now. Try again.");
    const { name } = stored.definition;
    this.#stored.set(name, await this.#registered(checked, stored));
    const tool = this.#publish().get(name) as RegisteredTool;
    return { tool, changes: definition ? changeNotes(definition, checked.definition) : [] };
  }

  #publish(): ToolSnapshot {
    const stored = [...this.#stored.values()].map((tool) => {
      if (!this.#files.get(tool.definition.name)) return tool;
      const message =
        "This stored tool hides the tool of the same name in a file; delete it to use that one.";
      const hides = note("hides_file_tool", "name", message, `DELETE /tools/${tool.definition.name}`);
      return { ...tool, lint: [...tool.lint, hides] };
    });
    this.#snapshot = createSnapshot(this.#snapshot.revision + 1, [...this.#files.list(), ...stored]);
    return this.#snapshot;
  }

  /** The compiled schema of the tool of this name where its parameters have not changed, else a new one. */
  #compile(input: unknown, parameters: JsonObject | undefined): CompiledSchema {
    const name = isObject(input) && "name" in input ? String(input.name) : "";
    const text = JSON.stringify(parameters);
    const known = [this.#stored.get(name), this.#files.get(name)].find(
      (tool) => tool && JSON.stringify(tool.definition.parameters) === text,
    );
    return known?.schema ?? compileSchema(parameters);
  }

  #serially<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => undefined);
    return result;
  }
}
