import { hash } from "node:crypto";
import { JsonParser } from "../../core/json/parser.ts";
import { sortedJson, stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { type RenderedRequest, renderToolRequest, TemplateError } from "../../core/tool-template.ts";
import type { LedgerEntry } from "../ports/ledger.ts";

/** A call as it is hashed and shown. */
type Described = Pick<
  LedgerEntry,
  "arguments" | "argumentsHash" | "definitionHash" | "request" | "requestHash"
>;

/**
 * What is shown is what is hashed, and what is hashed is what is sent: method, URL and body are rendered here as the transport renders
 * them, from the same definition and arguments. In headers the names of secrets stand for the secrets.
 */
export function describeCall(
  tool: ToolDefinition,
  args: JsonObject,
  { caller, sessionId }: Pick<LedgerEntry, "caller" | "sessionId">,
): Described {
  const definitionHash = hashOfDefinition(tool);
  const request = shownRequest(tool, args);
  const rendered = request instanceof TemplateError ? undefined : request;
  const whole = {
    tool: tool.name,
    definition: definitionHash,
    request: rendered ? { ...rendered, headers: Object.keys(rendered.headers) } : null,
    arguments: args,
    caller,
    session: sessionId,
  };
  return {
    arguments: stringifyJson(args),
    argumentsHash: hashOf(args),
    definitionHash,
    request: rendered && JSON.stringify(rendered),
    requestHash: hashOf(whole as unknown as JsonValue),
  };
}

/** Of everything in a definition but its version: the same definition stored again is the same tool. */
function hashOfDefinition({ version: _, ...definition }: ToolDefinition): string {
  return hashOf(definition as unknown as JsonValue);
}

/** The request that would be sent, with secrets masked, or why none can be made of the arguments. */
export function shownRequest(tool: ToolDefinition, args: JsonObject): RenderedRequest | TemplateError {
  try {
    return renderToolRequest(tool, args, (name) => `\${secret:${name}}`);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

/** A JSON text that the ledger holds, every digit of it. */
export function readExact(text: string): JsonValue {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  parser.end();
  return parser.value ?? null;
}

/** The arguments of an entry as they go to the tool. */
export function argumentsOf(entry: Pick<LedgerEntry, "arguments">): JsonObject {
  return readExact(entry.arguments) as JsonObject;
}

/** SHA-256 of the text with sorted members, in hexadecimal. */
export const hashOf = (value: JsonValue): string => hash("sha256", sortedJson(value));
