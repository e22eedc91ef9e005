import type { ChatRequest, ToolSpec } from "../core/protocol/wire.ts";
import type { ToolLevel } from "../core/tool.ts";
import { GatewayError } from "../errors.ts";
import type { RegisteredTool, ToolSnapshot } from "./registry/tool-snapshot.ts";

/** What the engine must know of whoever sent a request. */
export interface Caller {
  readonly name: string;
  readonly maxLevel: ToolLevel;
  /** Globs over tool names. */
  readonly tools: readonly string[];
  /** May decide about calls that wait for a person. */
  readonly mayApprove?: boolean;
  /** Counts in place of the `user` of a request. */
  readonly user?: string;
}

/** Whose a tool call is. */
export type Owner = "gateway" | "client" | "unknown";

/** The tools of one run: the gateway's that are offered, and the client's own. */
export interface Offer {
  /** By name; empty where the run is only passed through. */
  readonly gateway: ReadonlyMap<string, RegisteredTool>;
  readonly client: ReadonlySet<string>;
  /** Names the model may be meant to use, for a call of a name that nobody declared. */
  readonly names: readonly string[];
  owner(name: string): Owner;
  /** The declarations to add to the client's own, as JSON texts. */
  readonly added: readonly string[];
  /** Whether tools may be added while the run goes on: the client has not ruled out tools of the gateway. */
  readonly mayGrow: boolean;
}

const RANK = { read: 0, write: 1, admin: 2 } as const satisfies Record<ToolLevel, number>;

/** Whether a caller may use a tool at all, by level and allow-list. */
export function mayUse(caller: Caller, tool: RegisteredTool): boolean {
  const { level, name } = tool.definition;
  return RANK[level] <= RANK[caller.maxLevel] && caller.tools.some((glob) => matchesGlob(glob, name));
}

/** Whether `text` fits a pattern in which `*` stands for any run of characters. */
export function matchesGlob(glob: string, text: string): boolean {
  if (glob === "*" || glob === text) return true;
  const [first = "", ...rest] = glob.split("*");
  const last = rest.pop();
  if (last === undefined || !text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** What decides about tools beside the request and the caller. */
export interface OfferSettings {
  /** The session is elevated. */
  isElevated?: boolean;
  /** Chooses among the tools that nobody named; all of them without it. */
  select?: (permitted: readonly RegisteredTool[]) => readonly RegisteredTool[];
}

/**
 * Decides which tools a run has.
 *
 * 1. `header` (`x-toolweir-tools`) names the gateway tools to offer, `none` offers none; without it, what `select` chooses of all that the caller may use.
 * 2. A name that the client declares itself is the client's, unless the header names that very tool.
 * 3. The client's declarations go upstream as they came.
 * 4. An admin tool is offered in an elevated session, or where the header names it.
 * 5. With `tool_choice: "none"`, several choices or the older `functions`, which exclude `tools`, no gateway tool is offered.
 */
export function makeOffer(
  request: ChatRequest,
  snapshot: ToolSnapshot,
  caller: Caller,
  header: string | undefined,
  { isElevated = false, select = (tools) => tools }: OfferSettings = {},
): Offer {
  const declared = new Set((request.tools ?? []).flatMap((tool) => nameOf(tool) ?? []));
  const client = new Set(declared);
  const legacy = Array.isArray(request["functions"]) && request["functions"].length > 0;
  const off = request.tool_choice === "none" || (request.n ?? 1) > 1 || legacy;
  const named = header === undefined ? undefined : namedTools(header, snapshot, caller);
  const permitted = () => snapshot.list().filter((tool) => offeredUnasked(tool, caller, client, isElevated));
  const wanted = off ? [] : (named ?? select(permitted()));
  const gateway = new Map(wanted.map((tool) => [tool.definition.name, tool]));
  for (const name of gateway.keys()) client.delete(name);
  checkChoice(request, gateway, client, snapshot);
  return {
    gateway,
    client,
    names: [...gateway.keys(), ...client],
    owner(name) {
      if (gateway.has(name)) return "gateway";
      return gateway.size === 0 || client.has(name) ? "client" : "unknown";
    },
    mayGrow: !off && header?.trim() !== "none",
    added: [...gateway.values()]
      .filter((tool) => !declared.has(tool.definition.name))
      .map((tool) => tool.specText),
  };
}

function offeredUnasked(
  tool: RegisteredTool,
  caller: Caller,
  client: ReadonlySet<string>,
  isElevated: boolean,
): boolean {
  const { level, name } = tool.definition;
  return (level !== "admin" || isElevated) && mayUse(caller, tool) && !client.has(name);
}

function namedTools(header: string, snapshot: ToolSnapshot, caller: Caller): RegisteredTool[] {
  const names = header
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 1 && names[0] === "none") return [];
  return names.map((name) => {
    const tool = snapshot.get(name);
    if (!tool) throw bad(`x-toolweir-tools names "${name}", but no such tool is registered.`);
    if (!mayUse(caller, tool)) {
      throw new GatewayError("tool_not_permitted", `This key may not use the tool "${name}".`, {
        param: "x-toolweir-tools",
      });
    }
    return tool;
  });
}

/** A forced tool must be there to be called. */
function checkChoice(
  request: ChatRequest,
  gateway: ReadonlyMap<string, RegisteredTool>,
  client: ReadonlySet<string>,
  snapshot: ToolSnapshot,
): void {
  const choice = request.tool_choice as { type?: unknown; function?: { name?: unknown } } | null | undefined;
  if (typeof choice !== "object" || choice?.type !== "function") return;
  const name = choice.function?.name;
  if (typeof name !== "string") throw bad("tool_choice.function.name must be a string.", "tool_choice");
  if (gateway.has(name) || client.has(name)) return;
  if (snapshot.get(name)) {
    throw new GatewayError(
      "tool_not_permitted",
      `tool_choice forces "${name}", which is not offered in this request.`,
      { param: "tool_choice" },
    );
  }
  throw bad(`tool_choice forces "${name}", but no such tool is declared or registered.`, "tool_choice");
}

const bad = (message: string, param = "x-toolweir-tools") =>
  new GatewayError("invalid_value", message, { param });

function nameOf(tool: ToolSpec): string | undefined {
  const custom = tool["custom"] as { name?: unknown } | undefined;
  const name = tool.function?.name ?? custom?.name;
  return typeof name === "string" ? name : undefined;
}
