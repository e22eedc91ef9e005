import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { withoutTurnMarkup } from "../../core/protocol/turn-markup.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import type { ToolErrorKind, ToolOutcomeResult } from "../calls/attempt.ts";
import { mayHaveActed } from "../calls/write-policy.ts";
import type { ToolReply } from "../ports/tools.ts";
import { type ResultBody, readBody } from "./result-body.ts";
import { RESULT_TEXTS, type ResultTexts } from "./result-text.ts";
import { type Showing, selectBody, showData } from "./shown-data.ts";
import type { StoredText } from "./summary.ts";

/** The answer to one call: `role`, `tool_call_id` and `content` go to the model, the rest is for the record. */
export interface ToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
  ok: boolean;
  errorKind?: string;
  /** What the tool said, whole, for calls that refer to it. */
  data?: JsonValue;
  /** What is to be stored before the model reads `content`, which refers to it. */
  stored?: StoredText;
}

export interface CallName {
  id: string;
  name: string;
}

const MAX_MESSAGE_CHARACTERS = 500;
const ENVELOPE_MEMBERS = new Set(["success", "data", "error", "message"]);

/** How a result is told: the language, and what the tool's definition says about its data. */
export type Telling = Omit<Showing, "maxBytes">;

/**
 * What the model is told of a call that ran.
 *
 * 1. `content` is the JSON text of `{tool_call_id, tool_name, success, data, error}`, with a `note` behind where there is more to say:
 *    never empty, well-formed, with every digit of the tool's integers, and without the markup of chat templates.
 * 2. An answer `{success, data, error}` of the tool is taken over; `success: false` is a business error whatever the status.
 * 3. The data of a success is what `select` takes out of it. Above `result.max_bytes` JSON loses items and ends of strings, text its
 *    end; with `reference` the whole is to be stored, and the data is a summary of it.
 * 4. An error is one text: what happened, with the HTTP status and the tool's own message, then what to do next.
 */
export function toToolMessage(
  call: CallName,
  outcome: ToolOutcomeResult,
  tool: ToolDefinition,
  telling: Telling,
): ToolMessage {
  const texts = RESULT_TEXTS[telling.locale];
  const { reply, errorKind } = outcome;
  if (!reply) {
    const kind = errorKind ?? "transient";
    return failed(call, kind, failureText(outcome, tool, texts) + nextStep(kind, tool, outcome, texts));
  }
  const showing = { ...telling, maxBytes: tool.result.max_bytes };
  const body = readBody(reply);
  const envelope = unwrap(body);
  if (errorKind === undefined && envelope?.success !== false) {
    return succeeded(call, envelope?.data ?? body, reply, { tool, showing });
  }
  const kind = errorKind ?? "business";
  const said = messageOf(body);
  const head =
    errorKind === undefined ? texts.reported(said) : answerText(reply.status, outcome.attempts, said, texts);
  const data = envelope?.data && showData(envelope.data, reply, { ...showing, reference: undefined });
  const told = message(call, data?.json ?? "null", kind, head + nextStep(kind, tool, outcome, texts));
  return noted(told, data?.note);
}

function succeeded(
  call: CallName,
  said: ResultBody,
  reply: ToolReply,
  { tool, showing }: { tool: ToolDefinition; showing: Showing },
): ToolMessage {
  const selected = selectBody(said, showing);
  const shown = showData(selected.body, reply, showing);
  // Where the tool says what it returns, references go by that; else by what the model is shown.
  const whole = wholeData(tool.output ? said : selected.body);
  const told = {
    ...message(call, shown.json, undefined, undefined),
    ...(whole !== undefined && { data: whole }),
    ...(shown.stored && { stored: shown.stored }),
  };
  return noted(noted(told, selected.note), shown.note);
}

function noted(told: ToolMessage, note: string | undefined): ToolMessage {
  return note === undefined ? told : { ...told, content: withNote(told.content, note) };
}

/** The same envelope for a call that was not run. `sentence` is for the model, `code` for the record. */
export function refusalMessage(call: CallName, code: string, sentence: string): ToolMessage {
  return failed(call, code, sentence);
}

/** The same envelope for a call that passed every check of a dry run: its arguments, as the tool would have got them. */
export function dryRunMessage(call: CallName, args: JsonObject): ToolMessage {
  const data = `{"dry_run":true,"message":"validated, not run","arguments":${withoutTurnMarkup(stringifyJson(args))}}`;
  return message(call, data, undefined, undefined);
}

function failed(call: CallName, kind: string, error: string): ToolMessage {
  return message(call, "null", kind, error);
}

function message(
  call: CallName,
  data: string,
  kind: string | undefined,
  error: string | undefined,
): ToolMessage {
  const ok = kind === undefined;
  const names = `"tool_call_id":${JSON.stringify(call.id)},"tool_name":${JSON.stringify(call.name)}`;
  const sentence = withoutTurnMarkup(JSON.stringify(error ?? null));
  const content = `{${names},"success":${ok},"data":${data},"error":${sentence}}`;
  return { role: "tool", tool_call_id: call.id, content, ok, ...(kind !== undefined && { errorKind: kind }) };
}

/** A note at the end of an envelope, whose last member it is. */
const NOTE = /,"note":("(?:[^"\\]|\\.)*")\}$/s;

/** A note for the model inside the envelope of a tool message, where every upstream accepts it; it is added to one that is there. */
export function withNote(content: string, note: string): string {
  const there = NOTE.exec(content);
  const envelope = content.slice(0, there?.index ?? -1);
  const notes = there?.[1] === undefined ? note : `${JSON.parse(there[1])} ${note}`;
  return `${envelope},"note":${withoutTurnMarkup(JSON.stringify(notes))}}`;
}

/** The envelope without its note. */
export function withoutNote(content: string): string {
  const there = NOTE.exec(content);
  return there ? `${content.slice(0, there.index)}}` : content;
}

// ── Data ─────────────────────────────────────────────────────────────────────

interface Envelope {
  success: boolean;
  data: ResultBody | undefined;
}

function unwrap(body: ResultBody): Envelope | undefined {
  if (body.kind !== "json" || !isObject(body.value)) return undefined;
  const { success, ...rest } = body.value;
  if (typeof success !== "boolean") return undefined;
  const asData = (value: JsonValue | undefined) => (value === undefined ? undefined : { ...body, value });
  const hasData = Object.hasOwn(rest, "data");
  const plain = hasData && Object.keys(rest).every((member) => ENVELOPE_MEMBERS.has(member));
  if (plain || !success) return { success, data: asData(rest["data"]) };
  // Whatever else a tool puts beside `success` is its result.
  const { error, ...others } = rest;
  if (error !== undefined && error !== null) others["error"] = error;
  return { success, data: Object.keys(others).length > 0 ? asData(others) : { kind: "empty" } };
}

/** `undefined` for what is not shown to a model either. */
function wholeData(body: ResultBody): JsonValue | undefined {
  if (body.kind === "json") return body.value;
  if (body.kind === "text") return body.text.toWellFormed();
  return body.kind === "empty" ? null : undefined;
}

// ── Errors ───────────────────────────────────────────────────────────────────

function failureText(outcome: ToolOutcomeResult, tool: ToolDefinition, texts: ResultTexts): string {
  const { failure, attempts } = outcome;
  switch (failure?.kind) {
    case "timeout":
      return texts.timedOut(tool.timeout_ms);
    case "cancelled":
      return texts.cancelled;
    case "invalid_request":
      return texts.notSent(failure.message, failure.cause);
    case "unavailable":
      return texts.unavailable;
    case "unreachable":
      return texts.unreachable(failure.message, attempts);
    default:
      return texts.interrupted(failure?.message ?? "", attempts);
  }
}

function answerText(status: number, attempts: number, said: string, texts: ResultTexts): string {
  return status >= 300 && status < 400 ? texts.redirected(status) : texts.answered(status, attempts, said);
}

function nextStep(
  kind: ToolErrorKind,
  tool: ToolDefinition,
  outcome: ToolOutcomeResult,
  texts: ResultTexts,
): string {
  if (outcome.failure?.kind === "unavailable") return "";
  return texts.gap + (mayHaveActed(tool, outcome) ? texts.unknownOutcome : texts.advice[kind]);
}

/** The tool's own words, shortened; `""` where it said nothing that a model can read. */
function messageOf(body: ResultBody): string {
  if (body.kind === "json") return shortened(spoken(body.value) ?? stringifyJson(body.value));
  return body.kind === "text" && !body.html ? shortened(body.text) : "";
}

/** `{error: {message}}`, `{error}`, `{message}`, `{detail}` and the members with which RFC 9457 and OAuth say it. */
function spoken(value: JsonValue): string | undefined {
  if (!isObject(value)) return typeof value === "string" ? value : undefined;
  const members = ["error", "message", "error_description", "detail", "title", "errors"];
  const said = members.map((member) => value[member]).find(isSaid);
  if (said === undefined || typeof said === "string") return said;
  return spoken(said) ?? stringifyJson(said);
}

/** Flags such as `"error": true` say nothing. */
function isSaid(value: JsonValue | undefined): boolean {
  return typeof value === "string" ? value !== "" : typeof value === "object" && value !== null;
}

function shortened(text: string): string {
  const line = text.toWellFormed().trim();
  if (line.length <= MAX_MESSAGE_CHARACTERS) return line;
  return `${line
    .slice(0, MAX_MESSAGE_CHARACTERS)
    .toWellFormed()
    .replace(/\ufffd$/u, "")}…`;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
