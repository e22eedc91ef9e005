import type { JsonPath } from "../../core/json/value.ts";
import { type Locale, MAX_MESSAGE } from "../../core/schema/message.ts";
import { fitting, shorten, shortenStart } from "../../core/schema/message-parts.ts";
import { nearest } from "../../core/schema/nearest.ts";
import { spellWhole } from "../../core/schema/place.ts";
import type { Owner } from "../offer.ts";
import type { Reference } from "./references.ts";

/** Why a call with references cannot run. */
export type PlanFault =
  /** There is no such call in the message, or none whose result is there. */
  | {
      readonly kind: "unknown";
      readonly reference: Reference;
      /** How often the tool is called in the message. */
      readonly times: number;
      /** Whose tool has this name. */
      readonly owner: Owner;
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
  /** What the references bring is more than arguments may be, in characters. */
  | { readonly kind: "size"; readonly reference: Reference; readonly limit: number }
  /** The call that it refers to brought nothing, waits for a person, or is not made in a dry run. */
  | { readonly kind: "failed" | "waiting" | "dry_run"; readonly name: string };

/** The code in the tool message. */
export function codeOf(fault: PlanFault): "dependency_failed" | "reference_invalid" {
  return "name" in fault ? "dependency_failed" : "reference_invalid";
}

/** The closed word for counting. */
export function problemOf(fault: PlanFault): string {
  return "name" in fault ? "dependency" : `reference_${fault.kind}`;
}

/** Names that are listed. */
const MAX_NAMES = 4;
/** Characters for each part of a message that others have written; tried until it is short enough. */
const ROOMS = [60, 40, 24, 16, 8];

/** One sentence that the model can act on, of at most `MAX_MESSAGE` characters. */
export function explainPlan(fault: PlanFault, locale: Locale): string {
  const words = locale === "zh" ? chinese : english;
  let message = "";
  for (const room of ROOMS) {
    message = words(fault, partsIn(room));
    if (message.length <= MAX_MESSAGE[locale]) return message;
  }
  return shorten(message, MAX_MESSAGE[locale]);
}

/** Writes what a model or a tool has named, in the room that there is. */
interface Parts {
  name(text: string): string;
  path(path: JsonPath): string;
  reference(reference: Reference): string;
  circle(names: readonly string[]): string;
  /** The nearest names first, or the first ones; empty where there is none. */
  known(wanted: string, names: readonly string[]): string;
}

function partsIn(room: number): Parts {
  const name = (text: string) => `"${shorten(text, room)}"`;
  return {
    name,
    path: (path) => `"${shortenStart(spellWhole(path), room)}"`,
    reference: ({ text }) => shorten(text, room),
    circle: (names) =>
      names
        .slice(0, MAX_NAMES + 1)
        .map((one) => shorten(one, room))
        .join(" > "),
    known(wanted, names) {
      const near = nearest(wanted, names);
      const listed = (near.length > 0 ? near : names).slice(0, MAX_NAMES);
      return fitting(listed, room)
        .shown.map((one) => `"${one}"`)
        .join(", ");
    },
  };
}

function english(fault: PlanFault, parts: Parts): string {
  if ("name" in fault) return dependencyText(fault.kind, `it needs the result of ${parts.name(fault.name)}`);
  const written = parts.reference(fault.reference);
  switch (fault.kind) {
    case "unknown": {
      const { reference, times, owner, earlier } = fault;
      const name = parts.name(reference.name);
      if (times > 0) return `${written}: ${name} is called ${times} times in this message, counted from 0.`;
      if (owner === "client")
        return `${written}: the result of ${name} comes only after this message. Make this call again when it is there.`;
      if (owner === "gateway")
        return `${written}: ${name} is not called in this message. Call it before this call, or give the value.`;
      return `${written} names no call of this message. Calls before this one: ${parts.known(reference.name, earlier) || "none"}.`;
    }
    case "cycle":
      return `The calls refer to each other in a circle: ${parts.circle(fault.names)}. Give one of the values itself.`;
    case "order":
      return `${written} refers to a call that comes later. Make that call first in the message.`;
    case "member":
      return `${written} must begin with "data", the result of the call: {{${shorten(fault.reference.name, written.length)}.data. ...}}.`;
    case "nowhere": {
      const { missing, before, names } = fault;
      const known = parts.known(String(missing), names);
      const what = typeof missing === "number" ? `element ${missing}` : parts.path([missing]);
      return `${written} leads nowhere: ${parts.path(before)} has no ${what}.${known && ` It has ${known}.`}`;
    }
    case "type":
      return `${written} gives ${fault.gives}, but parameter ${parts.path(fault.at)} must be ${fault.takes}. Refer to another part.`;
    case "size":
      return `With ${written} the arguments are longer than ${fault.limit} characters. Refer to smaller parts.`;
    default:
      return fault satisfies never;
  }
}

function dependencyText(kind: "failed" | "waiting" | "dry_run", needed: string): string {
  if (kind === "dry_run") return `Not checked: ${needed}, which a dry run does not bring.`;
  return kind === "waiting"
    ? `Not run: ${needed}, which waits for a person's approval. Call it again when that is there.`
    : `Not run: ${needed}, which did not succeed. Correct that call first.`;
}

function chinese(fault: PlanFault, parts: Parts): string {
  if ("name" in fault) {
    const name = parts.name(fault.name);
    if (fault.kind === "dry_run") return `未检查：试运行中没有所需的 ${name} 的结果。`;
    return fault.kind === "waiting"
      ? `未执行：所需的 ${name} 正在等待人工批准。有结果后请重新调用。`
      : `未执行：所需的 ${name} 没有成功。请先修正该调用。`;
  }
  const written = parts.reference(fault.reference);
  switch (fault.kind) {
    case "unknown": {
      const { reference, times, owner, earlier } = fault;
      const name = parts.name(reference.name);
      if (times > 0) return `${written}：本条消息中 ${name} 只调用了 ${times} 次（从 0 计）。`;
      if (owner === "client") return `${written}：${name} 的结果在本条消息之后才有，请届时再调用。`;
      if (owner === "gateway") return `${written}：本条消息没有调用 ${name}。请先调用它，或直接给出值。`;
      return `${written} 未指向本条消息中的调用。之前的调用：${parts.known(reference.name, earlier) || "无"}。`;
    }
    case "cycle":
      return `调用之间循环引用：${parts.circle(fault.names)}。请直接给出其中一个值。`;
    case "order":
      return `${written} 指向后面的调用。请把那个调用放在前面。`;
    case "member":
      return `${written} 须以调用结果“data”开头。`;
    case "nowhere": {
      const { missing, before, names } = fault;
      const known = parts.known(String(missing), names);
      return `${written} 不存在：${parts.path(before)} 没有 ${parts.path([missing])}。${known && `可用：${known}。`}`;
    }
    case "type":
      return `${written} 的类型是 ${fault.gives}，参数 ${parts.path(fault.at)} 需要 ${fault.takes}。`;
    case "size":
      return `加上 ${written}，参数超过 ${fault.limit} 个字符。请引用更小的部分。`;
    default:
      return fault satisfies never;
  }
}
