import { jsonErrorMessage, jsonErrorMessageZh } from "../../core/json/parse-error.ts";
import { JsonParser } from "../../core/json/parser.ts";
import { repairJson } from "../../core/json/repair.ts";
import type { CheckedCall, Gate, GateContext, Verdict } from "./gate.ts";

/** Gate 1: the argument text is one JSON text, or can be repaired to one. No text at all is an empty object. */
export const syntaxGate = {
  name: "syntax",
  check(checked: CheckedCall, { locale, repair }: Pick<GateContext, "locale" | "repair">): Verdict {
    const { raw, tooLong } = checked.call;
    if (tooLong) return refuse("arguments_too_large", "length", TOO_LARGE[locale]);
    if (raw.trim() === "") {
      checked.value = {};
      return { gate: "syntax", pass: true };
    }
    const parser = new JsonParser({ maxLength: raw.length });
    parser.push(raw);
    parser.end();
    if (parser.value !== undefined && parser.status === "complete") {
      checked.value = parser.value;
      return { gate: "syntax", pass: true };
    }
    const repaired = repair === "safe" ? repairJson(raw) : undefined;
    if (repaired) {
      checked.value = repaired.value;
      checked.repairs = repaired.repairs;
      return { gate: "syntax", pass: true, repairs: repaired.repairs };
    }
    const { error } = parser;
    const reason = error?.reason ?? "incomplete";
    return refuse(
      "arguments_invalid",
      reason,
      INVALID[locale](error ? FAULT[locale](error) : TOO_EARLY[locale]),
    );
  },
} satisfies Gate;

const TOO_LARGE = {
  en: "The arguments are too long: at most 1 MiB of JSON text is accepted. Call again with less.",
  zh: "参数过长：JSON 文本最多 1 MiB。请缩短后重新调用。",
};

const FAULT = { en: jsonErrorMessage, zh: jsonErrorMessageZh };
const TOO_EARLY = { en: "The text ends too early.", zh: "文本不完整。" };

const INVALID = {
  en: (fault: string) =>
    `The arguments are not valid JSON: ${fault} Send them again as one complete JSON object.`,
  zh: (fault: string) => `参数不是合法的 JSON：${fault}请重新发送一个完整的 JSON 对象。`,
};

function refuse(code: string, problem: string, feedback: string): Verdict {
  return { gate: "syntax", pass: false, code, problem, feedback };
}
