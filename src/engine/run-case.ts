import type { JsonObject, JsonValue } from "../core/json/value.ts";
import type { ToolCall } from "../core/protocol/accumulator.ts";
import type { ToolSpec } from "../core/protocol/wire.ts";
import { explain } from "../core/schema/message.ts";
import { READ_RESULT } from "../core/tool.ts";
import { GatewayError } from "../errors.ts";
import { CALL_TEXTS } from "./calls/call-texts.ts";
import type { CheckedCall, GateContext } from "./gates/gate.ts";
import { syntaxGate } from "./gates/syntax.ts";
import type { RegisteredTool } from "./registry/tool-snapshot.ts";
import type { BookEntry, CallRecord } from "./run-record.ts";

/** What a replay of a case must come to. */
export interface CaseExpectation {
  /** The arguments after the syntax and schema gates; absent for a refused call. */
  arguments?: JsonObject;
  /** JSON pointers of the places that were converted. */
  coerced?: readonly string[];
  error_kind: "parse" | "schema" | "unknown_tool" | null;
  /** Texts that what the model is told must hold. */
  must_mention?: readonly string[];
  tool_calls: readonly { name: string; arguments: JsonObject }[];
  rejected_calls: readonly { name: string; error_kind: string; must_mention: readonly string[] }[];
  finish_reason: "stop";
  note: string;
}

/** One call of a run as a file that can be played again, in the format of the shared cases. */
export interface RunCase {
  id: string;
  source: string;
  area: "json" | "schema" | "reinject";
  what_happened: string;
  kind: string;
  request: { stream: true };
  tools: readonly ToolSpec[];
  upstream_turns: readonly {
    status: number;
    headers: Record<string, string>;
    body_chunks: readonly string[];
  }[];
  /** The reduced form: the argument text and its schema. Absent where no tool of the name was there. */
  arguments_text?: string;
  parameters?: JsonObject;
  expect: CaseExpectation;
}

/** How the gateway reads arguments. */
export type CaseSettings = Pick<GateContext, "locale" | "repair">;

type Fault = Extract<CaseExpectation["error_kind"], string>;

interface Found {
  record: CallRecord;
  /** `ROUND_NUMBER`, both from 1. */
  place: string;
}

/**
 * Makes a case of a call, for a replay that needs neither the client's words nor the tool.
 *
 * 1. `callId` picks the call; without it, the first that was refused, one refused for its text before others.
 * 2. `expect` is what the gates said of the text alone. What rules, levels and limits said depends on more, and stands in `note`.
 * 3. Nothing of the conversation is in it but the call, and the declaration of its tool as it was in that run.
 *
 * Throws `case_not_found`, which says why, where there is no such call, its text was not kept whole, or the tool's own normalisers
 * were needed to read it.
 */
export function makeCase(
  { record, tools }: Pick<BookEntry, "record" | "tools">,
  callId: string | undefined,
  settings: CaseSettings,
): RunCase {
  const calls = record.rounds.flatMap(({ round, calls: made }) =>
    made.map((call, at): Found => ({ record: call, place: `${round}_${at + 1}` })),
  );
  const { record: call, place } = callId === undefined ? firstRefused(calls) : named(calls, callId);
  if (call.owner === "client") throw none(`The call "${call.call_id}" is one of the client's own tools.`);
  if (call.name === READ_RESULT && call.owner === "gateway") {
    throw none(`The call "${call.call_id}" reads a stored result, which a case cannot hold.`);
  }
  if (call.raw_cut) {
    throw none(`The argument text of the call "${call.call_id}" is too long; it was not kept whole.`);
  }
  const tool = tools.get(call.name);
  const isOffered = tool !== undefined && record.tools_offered.includes(call.name);
  const told = isOffered
    ? readText(call, tool, settings)
    : unknownTool(call.name, record.tools_offered, settings);
  const declared = isOffered ? [tool] : record.tools_offered.flatMap((name) => tools.get(name) ?? []);
  return {
    id: `${record.run_id}_${place}`,
    source: `toolweir run ${record.run_id}, call ${call.call_id}`,
    area: told.fault === "parse" ? "json" : told.fault === "unknown_tool" ? "reinject" : "schema",
    what_happened: whatHappened(call, told),
    kind: call.error_kind ?? (told.coerced.length > 0 ? "coerced" : call.outcome),
    request: { stream: true },
    tools: declared.map(({ specText }) => JSON.parse(specText) as ToolSpec),
    upstream_turns: [replyOf(call)],
    ...(isOffered && { arguments_text: call.raw, parameters: tool.definition.parameters ?? NO_PARAMETERS }),
    expect: expectation(call, told),
  };
}

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

const none = (message: string): GatewayError =>
  new GatewayError("case_not_found", message, { param: "call" });

function named(calls: readonly Found[], callId: string): Found {
  const found = calls.find(({ record }) => record.call_id === callId);
  if (found) return found;
  throw none(`This run has no call "${callId.slice(0, 64)}".`);
}

function firstRefused(calls: readonly Found[]): Found {
  const refused = calls.filter(({ record }) => record.outcome === "rejected");
  const [first = refused[0]] = refused.filter(
    ({ record }) =>
      record.owner === "unknown" || record.gates.some(({ gate, pass }) => !pass && isTextGate(gate)),
  );
  if (first) return first;
  throw none("No call of this run was refused; ?call=ID makes a case of one that was not.");
}

/** Whether a gate looks at nothing but the argument text and the schema. */
const isTextGate = (gate: string): boolean => gate === "syntax" || gate === "schema";

/** What the text of a call comes to. */
interface Told {
  fault: Fault | null;
  feedback: string;
  args: JsonObject | undefined;
  coerced: readonly string[];
}

/** Reads the text again, with the schema of that run: the record keeps no arguments. */
function readText(call: CallRecord, tool: RegisteredTool, settings: CaseSettings): Told {
  const checked: CheckedCall = { call: toToolCall(call), tool, value: null, repairs: [] };
  const syntax = syntaxGate.check(checked, settings);
  if (!syntax.pass) return { fault: "parse", feedback: syntax.feedback, args: undefined, coerced: [] };
  const verdict = tool.schema.check(checked.value);
  if (verdict.ok) {
    const coerced = verdict.coercions.map(({ path }) => path);
    return { fault: null, feedback: "", args: verdict.value as JsonObject, coerced };
  }
  if (call.gates.some(({ gate, pass }) => gate === "schema" && pass)) {
    throw none(`The call "${call.call_id}" was read with the tool's normalisers, which a case cannot hold.`);
  }
  const [problem] = verdict.problems;
  const feedback = problem ? explain(problem, settings.locale) : "";
  return { fault: "schema", feedback, args: undefined, coerced: [] };
}

function toToolCall({ call_id, name, raw }: CallRecord): ToolCall {
  return { id: call_id, name, kind: "function", raw, reading: "plain", tooLong: false, extra: undefined };
}

function unknownTool(name: string, offered: readonly string[], { locale }: CaseSettings): Told {
  const feedback = CALL_TEXTS[locale].unknownTool(name, offered);
  return { fault: "unknown_tool", feedback, args: undefined, coerced: [] };
}

function whatHappened({ name, gates, outcome }: CallRecord, { feedback }: Told): string {
  const said = gates.find(({ pass }) => !pass)?.feedback ?? feedback;
  if (said !== "") return `The model called "${name}", and was told: ${said}`;
  return `The model called "${name}"; the call ended as "${outcome}".`;
}

function expectation({ name, gates }: CallRecord, { fault, feedback, args, coerced }: Told): CaseExpectation {
  const later = gates.find(({ gate, pass }) => !pass && !isTextGate(gate));
  const note = later
    ? `The ${later.gate} gate refused the call (${later.problem}). That depends on more than its text, so only its arguments are expected.`
    : "What the gateway that made this file did.";
  if (!fault) {
    const value = args ?? {};
    return {
      arguments: value,
      coerced,
      error_kind: null,
      tool_calls: [{ name, arguments: value }],
      rejected_calls: [],
      finish_reason: "stop",
      note,
    };
  }
  const must_mention = fault === "parse" ? [] : quotedIn(feedback);
  return {
    error_kind: fault,
    must_mention,
    tool_calls: [],
    rejected_calls: [{ name, error_kind: fault, must_mention }],
    finish_reason: "stop",
    note,
  };
}

/** Plain words between quotation marks: names of parameters and tools, and short values. */
function quotedIn(feedback: string): string[] {
  const words = [...feedback.matchAll(/["“]([\p{L}\p{N}_.-]{1,64})["”]/gu)].map((match) => match[1] ?? "");
  return [...new Set(words)];
}

/** A streamed reply that holds the call, its arguments in one piece. */
function replyOf({ call_id, name, raw }: CallRecord): RunCase["upstream_turns"][number] {
  const call = { index: 0, id: call_id, type: "function", function: { name, arguments: raw } };
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body_chunks: [
      chunk({ role: "assistant", content: null, tool_calls: [call] }, null),
      chunk({}, "tool_calls"),
      "data: [DONE]\n\n",
    ],
  };
}

function chunk(delta: Record<string, JsonValue>, finish_reason: string | null): string {
  const head = {
    id: "chatcmpl-case",
    object: "chat.completion.chunk",
    created: 1_750_000_000,
    model: "case",
  };
  return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
