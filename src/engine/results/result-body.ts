import { TextDecoder } from "node:util";
import { closeCut } from "../../core/json/close-cut.ts";
import { JsonParser } from "../../core/json/parser.ts";
import type { JsonValue } from "../../core/json/value.ts";
import type { ToolReply } from "../ports/tools.ts";

/** The body of a tool's answer as far as a model can be told of it. */
export type ResultBody =
  | { kind: "empty" }
  | { kind: "json"; value: JsonValue; cut?: true }
  | { kind: "text"; text: string; html: boolean }
  | { kind: "binary"; type: string };

const BINARY_TYPE =
  /^(?:image|audio|video|font|model)\/|^application\/(?:octet-stream|pdf|zip|gzip|x-tar|wasm|vnd\.(?:ms|openxml))/u;
const JSON_TYPE = /^[^/]+\/(?:json|[^/]+\+json)$/u;
const UNKNOWN_TYPE = "unknown type";

/**
 * Reads the body of an answer.
 *
 * 1. It is JSON if its type says so, or if the text is one JSON object or array; integers keep every digit. Of one that was cut off, all that
 *    was read.
 * 2. Text is decoded with the declared charset, an unknown one as UTF-8 with replacement characters.
 * 3. Images and the like, and text with NUL or bytes that are not UTF-8, are binary: no byte of them is kept.
 */
export function readBody(reply: ToolReply): ResultBody {
  if (reply.body.length === 0) return { kind: "empty" };
  const type = reply.contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const text = BINARY_TYPE.test(type) ? undefined : decode(reply);
  if (text === undefined) return { kind: "binary", type: type || UNKNOWN_TYPE };
  if (text.trim() === "") return { kind: "empty" };
  const html = /^\s*<(?:!doctype html|html)/iu.test(text);
  const mayBeJson = JSON_TYPE.test(type) || /^\s*[[{]/u.test(text);
  const whole = reply.truncated ? closeCut(text) : text;
  const value = mayBeJson && whole !== undefined ? parse(whole) : undefined;
  if (value === undefined) return { kind: "text", text, html };
  return { kind: "json", value, ...(reply.truncated && { cut: true }) };
}

function parse(text: string): JsonValue | undefined {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  parser.end();
  return parser.status === "complete" ? parser.value : undefined;
}

function decode(reply: ToolReply): string | undefined {
  const label = /;\s*charset\s*=\s*"?([^\s;"]+)/iu.exec(reply.contentType)?.[1];
  try {
    // With `stream` the end of a cut body may stand inside a character.
    const text = decoderFor(label).decode(reply.body, { stream: reply.truncated });
    return text.includes("\0") ? undefined : text;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function decoderFor(label: string | undefined): TextDecoder {
  if (label === undefined) return new TextDecoder("utf-8", { fatal: true });
  try {
    return new TextDecoder(label, { fatal: true });
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
}
