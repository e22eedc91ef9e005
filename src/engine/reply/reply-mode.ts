import { isObject } from "../../core/protocol/adapter.ts";
import type { ChatChunk } from "../../core/protocol/wire.ts";

/** How a reply's body is read: `failure` is the body of a status that is no success. */
export type Mode = "unknown" | "events" | "whole" | "failure";

/** The JSON object that a text is, else `undefined`. */
export function parseObject(data: string): ChatChunk | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a body without a media type is: JSON and HTML begin unlike any event stream, and white space says nothing yet. */
export function modeOf(bytes: Buffer): Mode {
  const [first] = bytes.toString("latin1").trimStart();
  if (first === undefined) return "unknown";
  return "<{[".includes(first) ? "whole" : "events";
}
