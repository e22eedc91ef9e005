import { jsonErrorMessage, jsonErrorMessageZh } from "../../core/json/parse-error.ts";
import { JsonParser } from "../../core/json/parser.ts";
import { repairJson } from "../../core/json/repair.ts";
import type { RepairName } from "../../core/json/repair-names.ts";
import type { JsonValue } from "../../core/json/value.ts";
import type { CheckedCall, Gate, GateContext, Verdict } from "./gate.ts";

/**
 * Gate 1: the argument text is one JSON text, or can be repaired to one, here or before when it was read out of a reply's text. No text
 * at all is an empty object.
 */
export const syntaxGate = {
  name: "syntax",
  check(checked: CheckedCall, { locale, repair }: Pick<GateContext, "locale" | "repair">): Verdict {
    const { raw, tooLong, repairs: before = [] } = checked.call;
    if (tooLong) return refuse("arguments_too_large", "length", TOO_LARGE[locale]);
    if (before.length > 0 && repair === "off") return invalid("syntax", WRITTEN[locale], locale);
    if (raw.trim() === "") return read(checked, {}, before);
    const parser = new JsonParser({ maxLength: raw.length });
    parser.push(raw);
    parser.end();
    if (parser.value !== undefined && parser.status === "complete")
      return read(checked, parser.value, before);
    const repaired = repair === "safe" ? repairJson(raw) : undefined;
    if (repaired) return read(checked, repaired.value, [...new Set([...before, ...repaired.repairs])]);
    const { error } = parser;
    return invalid(error?.reason ?? "incomplete", error ? FAULT[locale](error) : TOO_EARLY[locale], locale);
  },
} satisfies Gate;

const TOO_LARGE = {
  en: "The arguments are too long: at most 1 MiB of JSON text is accepted. Call again with less.",
  zh: "参数过长：JSON 文本最多 1 MiB。请缩短后重新调用。",
};

const FAULT = { en: jsonErrorMessage, zh: jsonErrorMessageZh };
const TOO_EARLY = { en: "The text ends too early.", zh: "文本不完整。" };

const WRITTEN = { en: "They were written in another way.", zh: "写法不符合 JSON。" };

const INVALID = {
  en: (fault: string) =>
    `The arguments are not valid JSON: ${fault} Send them again as one complete JSON object.`,
  zh: (fault: string) => `参数不是合法的 JSON：${fault}请重新发送一个完整的 JSON 对象。`,
};

function read(checked: CheckedCall, value: JsonValue, repairs: readonly RepairName[]): Verdict {
  checked.value = value;
  if (repairs.length === 0) return { gate: "syntax", pass: true };
  checked.repairs = repairs;
  return { gate: "syntax", pass: true, repairs };
}

function invalid(problem: string, fault: string, locale: "en" | "zh"): Verdict {
  return refuse("arguments_invalid", problem, INVALID[locale](fault));
}

function refuse(code: string, problem: string, feedback: string): Verdict {
  return { gate: "syntax", pass: false, code, problem, feedback };
}
