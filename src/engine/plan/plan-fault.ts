import type { JsonPath } from "../../core/json/value.ts";
import { nearest } from "../../core/schema/nearest.ts";
import { spell } from "../../core/schema/place.ts";
import type { Reference } from "./references.ts";

/** Why a call with references cannot run. */
export type PlanFault =
  /** There is no such call in the message. */
  | {
      readonly kind: "unknown";
      readonly reference: Reference;
      /** How often the tool is called in the message. */
      readonly times: number;
      /** A tool of this name is offered. */
      readonly isTool: boolean;
      /** Tools of the calls that could be meant. */
      readonly earlier: readonly string[];
    }
  /** The calls refer to each other; the names begin and end with the same call. */
  | { readonly kind: "cycle"; readonly reference: Reference; readonly names: readonly string[] }
  /** The call comes later in the message. */
  | { readonly kind: "order"; readonly reference: Reference }
  /** The path does not begin at a member of the answer. */
  | { readonly kind: "member"; readonly reference: Reference }
  /** The answer has no such place. */
  | {
      readonly kind: "nowhere";
      readonly reference: Reference;
      readonly missing: string | number;
      readonly before: JsonPath;
      readonly names: readonly string[];
    }
  /** The value at that place can never be what the parameter takes. */
  | {
      readonly kind: "type";
      readonly reference: Reference;
      readonly at: JsonPath;
      readonly gives: string;
      readonly takes: string;
    }
  /** The call that it refers to brought nothing, or waits for a person. */
  | { readonly kind: "failed" | "waiting"; readonly name: string };

/** The code in the tool message; the kind of fault is the problem. */
export function codeOf({ kind }: PlanFault): "dependency_failed" | "reference_invalid" {
  return kind === "failed" || kind === "waiting" ? "dependency_failed" : "reference_invalid";
}

/** Names that are listed, and characters that a reference takes in a sentence. */
const MAX_NAMES = 4;
const MAX_REFERENCE = 60;

/** One sentence that the model can act on. */
export function explainPlan(fault: PlanFault, locale: "en" | "zh"): string {
  return locale === "en" ? english(fault) : chinese(fault);
}

function english(fault: PlanFault): string {
  switch (fault.kind) {
    case "unknown": {
      const { reference, times, isTool, earlier } = fault;
      if (times > 0)
        return `${quoted(reference)}: "${reference.name}" is called ${times} times in this message, counted from 0.`;
      if (isTool)
        return `${quoted(reference)}: "${reference.name}" is not called in this message. Call it before this call, or give the value.`;
      return `${quoted(reference)} names no call of this message. Calls before this one: ${namesText(reference.name, earlier) || "none"}.`;
    }
    case "cycle":
      return `The calls refer to each other in a circle: ${fault.names.slice(0, MAX_NAMES + 1).join(" > ")}. Give one of the values itself.`;
    case "order":
      return `${quoted(fault.reference)} refers to a call that comes later. Make that call first in the message.`;
    case "member":
      return `${quoted(fault.reference)} must begin with "data", the result of the call: {{${fault.reference.name}.data. ...}}.`;
    case "nowhere": {
      const { reference, missing, before, names } = fault;
      const has = names.length > 0 ? ` It has ${namesText(String(missing), names)}.` : "";
      return `${quoted(reference)} leads nowhere: "${spell(before)}" has no ${wordFor(missing)}.${has}`;
    }
    case "type":
      return `${quoted(fault.reference)} gives ${fault.gives}, but parameter "${spell(fault.at)}" must be ${fault.takes}. Refer to another part.`;
    case "waiting":
      return `Not run: it needs the result of "${fault.name}", which waits for a person's approval. Call it again when that is there.`;
    case "failed":
      return `Not run: it needs the result of "${fault.name}", which did not succeed. Correct that call first.`;
    default:
      return fault satisfies never;
  }
}

function chinese(fault: PlanFault): string {
  switch (fault.kind) {
    case "unknown": {
      const { reference, times, isTool, earlier } = fault;
      if (times > 0)
        return `${quoted(reference)}：本条消息中“${reference.name}”只调用了 ${times} 次（从 0 计）。`;
      if (isTool)
        return `${quoted(reference)}：本条消息没有调用“${reference.name}”。请先调用它，或直接给出值。`;
      return `${quoted(reference)} 未指向本条消息中的调用。之前的调用：${namesText(reference.name, earlier) || "无"}。`;
    }
    case "cycle":
      return `调用之间循环引用：${fault.names.slice(0, MAX_NAMES + 1).join(" > ")}。请直接给出其中一个值。`;
    case "order":
      return `${quoted(fault.reference)} 指向后面的调用。请把那个调用放在前面。`;
    case "member":
      return `${quoted(fault.reference)} 须以调用结果“data”开头。`;
    case "nowhere": {
      const { reference, missing, before, names } = fault;
      const has = names.length > 0 ? `可用：${namesText(String(missing), names)}。` : "";
      return `${quoted(reference)} 不存在：“${spell(before)}”没有 ${missing}。${has}`;
    }
    case "type":
      return `${quoted(fault.reference)} 的类型是 ${fault.gives}，参数“${spell(fault.at)}”需要 ${fault.takes}。`;
    case "waiting":
      return `未执行：所需的“${fault.name}”正在等待人工批准。有结果后请重新调用。`;
    case "failed":
      return `未执行：所需的“${fault.name}”没有成功。请先修正该调用。`;
    default:
      return fault satisfies never;
  }
}

function quoted({ text }: Reference): string {
  return text.length > MAX_REFERENCE ? `${text.slice(0, MAX_REFERENCE).toWellFormed()}…` : text;
}

function wordFor(missing: string | number): string {
  return typeof missing === "number" ? `element ${missing}` : `"${spell([missing])}"`;
}

/** The nearest names first, or the first ones. */
function namesText(wanted: string, names: readonly string[]): string {
  const near = nearest(wanted, names);
  return (near.length > 0 ? near : names)
    .slice(0, MAX_NAMES)
    .map((name) => `"${name.slice(0, MAX_REFERENCE).toWellFormed()}"`)
    .join(", ");
}
