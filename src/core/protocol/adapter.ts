import type { RepairName } from "../json/repair-names.ts";
import type { Delta, WireToolCall } from "./wire.ts";

/** A piece of a tool call as it came; nothing in it can be relied on. */
export interface ToolFragment {
  /** A whole number from 0; `undefined` when the provider sent none, or nonsense. */
  index: number | undefined;
  id: string | undefined;
  name: string | undefined;
  /** Argument text, `""` when the piece has none. */
  text: string;
  /** What was put right in the text while it was read. */
  repairs?: readonly RepairName[] | undefined;
  kind: "function" | "custom";
  /** Members of the call that this gateway does not know, to be echoed on the same call. */
  extra: Record<string, unknown> | undefined;
  /** Place within its own delta: two places are never one call, whatever else is missing. */
  place: number;
}

/** What one delta says: what is to be shown, and pieces of calls. */
export interface ReadDelta {
  /** The delta without its calls. */
  visible: Delta;
  fragments: readonly ToolFragment[];
  /** The delta was not all there was to read, or says something else than it did: it is no model for others of its shape. */
  changed?: boolean;
  /** The calls of earlier deltas were found in text, and these here are the provider's own in their place. */
  withdraws?: true;
}

/** Reads one model's way of writing tool calls; one instance a reply, which takes the deltas in order. */
export interface ProtocolAdapter {
  /** `last`: the delta ends the choice. */
  push(delta: Delta, last: boolean): ReadDelta;
}

const KNOWN = new Set(["index", "id", "type", "function", "custom"]);

/** The adapter of the OpenAI wire: `tool_calls` and the older `function_call`. */
export const nativeAdapter: ProtocolAdapter = {
  push(delta) {
    const { tool_calls, function_call, ...visible } = delta;
    const fragments = Array.isArray(tool_calls)
      ? tool_calls.map(readFragment).filter((f) => f !== undefined)
      : [];
    if (isObject(function_call)) fragments.push(legacyFragment(function_call));
    return { visible, fragments };
  },
};

/** Some providers stream `content` as a list of parts, which SDKs do not expect: text stays, thinking becomes `reasoning_content`. */
export function plainContent(delta: Delta): Delta {
  const { content, ...rest } = delta;
  if (!Array.isArray(content)) return delta;
  const thinking = partsText(content, "thinking");
  return {
    ...rest,
    content: partsText(content, "text"),
    ...(thinking !== "" && { reasoning_content: thinking }),
  };
}

/** The texts of the parts of one type; a thinking part holds its text in parts of its own. */
function partsText(parts: readonly unknown[], type: "text" | "thinking"): string {
  const texts = parts.filter(isObject).map((part) => {
    if (part["type"] !== type) return "";
    const value = part[type];
    return Array.isArray(value) ? partsText(value, "text") : String(value ?? "");
  });
  return texts.join("");
}

function readFragment(entry: unknown, place: number): ToolFragment | undefined {
  if (!isObject(entry)) return undefined;
  const call = entry as WireToolCall;
  const custom = isObject(call.custom);
  const body = (custom ? call.custom : call.function) as Record<string, unknown> | null | undefined;
  return {
    index:
      Number.isSafeInteger(call.index) && (call.index as number) >= 0 ? (call.index as number) : undefined,
    id: text(call.id),
    name: text(body?.["name"]),
    text: argumentText(body?.[custom ? "input" : "arguments"]),
    kind: custom ? "custom" : "function",
    extra: unknownMembers(call),
    place,
  };
}

function legacyFragment(call: Record<string, unknown>): ToolFragment {
  return {
    index: undefined,
    id: undefined,
    name: text(call["name"]),
    text: argumentText(call["arguments"]),
    kind: "function",
    extra: undefined,
    place: 0,
  };
}

function unknownMembers(call: WireToolCall): Record<string, unknown> | undefined {
  let extra: Record<string, unknown> | undefined;
  for (const [member, value] of Object.entries(call)) {
    if (KNOWN.has(member) || value === null) continue;
    extra ??= {};
    extra[member] = value;
  }
  return extra;
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** Some providers send the arguments as the value itself; it is spelled out once, here. */
function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}

/** Whether a wire value is an object (and no array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
