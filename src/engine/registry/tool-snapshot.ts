import { createHash } from "node:crypto";
import type { Select } from "../../core/jmespath/compile-select.ts";
import type { JsonObject } from "../../core/json/value.ts";
import type { ToolSpec } from "../../core/protocol/wire.ts";
import type { StateRules } from "../../core/rules/state-rules.ts";
import type { ToolRules } from "../../core/rules/tool-rules.ts";
import type { CompiledSchema } from "../../core/schema/compiled-schema.ts";
import { deprecatedIn, type FindDeprecated } from "../../core/schema/deprecated.ts";
import type { SchemaShape } from "../../core/schema/schema-shape.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import type { CheckedTool } from "../../core/tool-definition.ts";
import type { LintNote } from "../../core/tool-lint-note.ts";
import type { ToolReply } from "../ports/tools.ts";
import type { ResultOwner } from "../results/stored-results.ts";

/** A tool that can be offered and called. Nothing in it changes. */
export interface RegisteredTool {
  readonly definition: ToolDefinition;
  readonly schema: CompiledSchema;
  /** What the tool says it returns, if it says so. */
  readonly output: SchemaShape | undefined;
  /** Takes out of the tool's data what the model is shown; absent where that is all of it. */
  readonly select: Select | undefined;
  readonly rules: ToolRules;
  readonly stateRules: StateRules;
  /** Answers a call within the gateway; absent where the tool is asked over HTTP. */
  readonly local?: (args: JsonObject, owner: ResultOwner) => Promise<ToolReply>;
  /** Absent where the schema marks no parameter as deprecated. */
  readonly findDeprecated: FindDeprecated | undefined;
  /** What the model is offered, as JSON text: it is written into every request. */
  readonly specText: string;
  readonly lint: readonly LintNote[];
  /** The version that some sessions get instead, and for how many in a hundred. */
  readonly canary: { readonly tool: RegisteredTool; readonly percent: number } | undefined;
  /** It is given to some sessions in place of the version in force. */
  readonly isCanary: boolean;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** Entity tag with its quotes: the version of a stored tool, the content of a tool from a file. */
  readonly etag: string;
}

/** All tools at one moment. A run keeps the one it began with. */
export interface ToolSnapshot {
  /** Grows with every change of the set. */
  readonly revision: number;
  /** In the order of their names, so that requests to a model stay alike and its prompt cache holds. */
  readonly names: readonly string[];
  get(name: string): RegisteredTool | undefined;
  /** In the order of `names`. */
  list(): readonly RegisteredTool[];
  /** The tools as one session gets them: some of them in the version of their canary. */
  forSession(key: string): ToolSnapshot;
}

/** Servers of local models want `parameters` even where there are none. */
const NO_PARAMETERS: JsonObject = { type: "object", properties: {}, additionalProperties: false };

const THOUGHT = {
  type: "string",
  description:
    "Why this call is right now, in one or two sentences. It is recorded, and no part of the request.",
};

/** The parameters with a place for the thought before the others: what is written first is thought first. */
function withThought(parameters: JsonObject): JsonObject {
  const properties = { thought: THOUGHT, ...(parameters["properties"] as JsonObject | undefined) };
  const required = Array.isArray(parameters["required"]) ? parameters["required"] : [];
  return { ...parameters, properties, required: ["thought", ...required] };
}

function deprecation({ deprecated }: ToolDefinition): string[] {
  if (!deprecated) return [];
  const { use, message } = deprecated;
  const instead = use === undefined ? "Do not use it any more." : `Use ${use} instead.`;
  return [`Deprecated. ${instead}${message === undefined ? "" : ` ${message}`}`];
}

function toSpec(definition: ToolDefinition): ToolSpec {
  const { name, description, examples, thought } = definition;
  const parameters = definition.parameters ?? NO_PARAMETERS;
  const lines = examples.map(
    (example) => `- ${typeof example === "string" ? example : JSON.stringify(example)}`,
  );
  const parts = [
    description,
    ...deprecation(definition),
    ...(lines.length > 0 ? [`Examples:\n${lines.join("\n")}`] : []),
  ];
  const text = parts.filter((part) => part !== "").join("\n\n");
  return {
    type: "function",
    function: { name, description: text, parameters: thought ? withThought(parameters) : parameters },
  };
}

/** The entity tag of a version in the store. */
export function storedEtag(version: number): string {
  return `"${version}"`;
}

/** The entity tag of a tool from a file. It differs from every version in the store, also after a restart. */
export function fileEtag(definition: CheckedTool["definition"]): string {
  return `"file-${createHash("sha256").update(JSON.stringify(definition)).digest("hex").slice(0, 16)}"`;
}

/** Makes a checked definition callable under a version. */
export function toRegistered(
  checked: CheckedTool,
  origin: { version: number; updatedAt: number; etag: string; canary?: RegisteredTool["canary"] },
): RegisteredTool {
  const definition = Object.freeze({ ...checked.definition, version: origin.version });
  return Object.freeze({
    definition,
    schema: checked.schema,
    output: checked.output,
    select: checked.select,
    rules: checked.rules,
    stateRules: checked.stateRules,
    findDeprecated: deprecatedIn(definition.parameters),
    specText: JSON.stringify(toSpec(definition)),
    lint: checked.lint,
    canary: origin.canary,
    isCanary: false,
    updatedAt: origin.updatedAt,
    etag: origin.etag,
  });
}

/** A snapshot of the given tools; of two with one name the later counts. */
export function createSnapshot(revision: number, tools: Iterable<RegisteredTool>): ToolSnapshot {
  const unsorted = new Map([...tools].map((tool) => [tool.definition.name, tool]));
  const byName = new Map([...unsorted].sort(([a], [b]) => (a < b ? -1 : 1)));
  const names = Object.freeze([...byName.keys()]);
  const list = Object.freeze([...byName.values()]);
  const withCanary = list.filter(({ canary }) => canary !== undefined);
  const snapshot: ToolSnapshot = Object.freeze({
    revision,
    names,
    get: (name: string) => byName.get(name),
    list: () => list,
    forSession(key: string) {
      const canaries = canariesFor(key, withCanary);
      return canaries.size === 0 ? snapshot : replacing(snapshot, canaries);
    },
  });
  return snapshot;
}

/** The same tools but for a few; it costs nothing for the others. */
function replacing(snapshot: ToolSnapshot, others: ReadonlyMap<string, RegisteredTool>): ToolSnapshot {
  let list: readonly RegisteredTool[] | undefined;
  const replaced: ToolSnapshot = Object.freeze({
    revision: snapshot.revision,
    names: snapshot.names,
    get: (name: string) => others.get(name) ?? snapshot.get(name),
    list() {
      list ??= Object.freeze(snapshot.list().map((tool) => others.get(tool.definition.name) ?? tool));
      return list;
    },
    forSession: () => replaced,
  });
  return replaced;
}

/** By what a session is told apart for canaries; one that nobody named is as long as its run. */
export function canaryKey(of: {
  caller: string;
  sessionId: string;
  isSessionNamed: boolean;
  runId: string;
}): string {
  return of.isSessionNamed ? `${of.caller} ${of.sessionId}` : of.runId;
}

/** Each tool on its own, so that the canaries of two tools do not always meet. */
function canariesFor(key: string, tools: readonly RegisteredTool[]): Map<string, RegisteredTool> {
  return new Map(
    tools.flatMap(({ definition: { name }, canary }): [string, RegisteredTool][] =>
      canary && shareOf(`${name} ${key}`) < canary.percent
        ? [[name, Object.freeze({ ...canary.tool, isCanary: true })]]
        : [],
    ),
  );
}

/** A number from 0 to below 100, always the same for a text. */
function shareOf(text: string): number {
  return (createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32) * 100;
}
