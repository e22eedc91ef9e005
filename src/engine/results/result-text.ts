import { TemplateError } from "../../core/tool-template.ts";
import type { ToolErrorKind } from "../calls/attempt.ts";

/** The language of the sentences written for the model. */
export type Locale = "en" | "zh";

/** Every sentence about the result of a tool, in one language. */
export interface ResultTexts {
  /** Between two sentences. */
  gap: string;
  noOutput: string;
  notShown(type: string, size: string): string;
  moreThan(size: string): string;
  /** `shown` and `total` are bytes; `total` undefined: nobody knows how much there was. */
  truncated(shown: number, total: number | undefined): string;
  reported(message: string): string;
  answered(status: number, attempts: number, message: string): string;
  redirected(status: number): string;
  timedOut(ms: number): string;
  cancelled: string;
  unreachable(reason: string, attempts: number): string;
  /** It was not asked, because it keeps failing; with what to do next. */
  unavailable: string;
  interrupted(reason: string, attempts: number): string;
  notSent(message: string, cause: unknown): string;
  /** What to do next. */
  advice: Readonly<Record<ToolErrorKind, string>>;
  /** Instead of `advice` where a write may have happened. */
  unknownOutcome: string;
}

const en: ResultTexts = {
  gap: " ",
  noOutput: "(no output)",
  notShown: (type, size) => `[${type}, ${size}, not shown]`,
  moreThan: (size) => `more than ${size}`,
  truncated: (shown, total) =>
    `… [truncated: ${total === undefined ? "an unknown number of" : total - shown} bytes are missing after the first ${shown}]`,
  reported: (message) => `The tool reported an error${colon(message)}`,
  answered: (status, attempts, message) =>
    `The tool answered with HTTP status ${status}${attempts > 1 ? ` after ${attempts} attempts` : ""}${colon(message)}`,
  redirected: (status) => `The tool answered with a redirect (HTTP status ${status}), which is not followed.`,
  timedOut: (ms) => `The tool timed out after ${ms} ms.`,
  cancelled: "The call was cancelled.",
  unreachable: (reason, attempts) => `The tool could not be reached (${reason}, attempts: ${attempts}).`,
  unavailable:
    "The tool was not asked: too many of its latest calls have failed. Do not call it again now: go on without it or tell the user.",
  interrupted: (reason, attempts) => `The connection to the tool broke (${reason}, attempts: ${attempts}).`,
  notSent: (message) => message,
  advice: {
    argument: "Correct it and call again.",
    business: "Do not repeat the call unchanged: correct the arguments or tell the user.",
    permission: "Do not repeat the call: tell the user that access is missing.",
    transient: "Try again later or go on without it.",
    permanent: "Do not repeat the call: tell the user.",
    timeout: "Do not repeat the call unchanged: go on without it or tell the user.",
    cancelled: "Do not repeat the call.",
  },
  unknownOutcome: "It may have been carried out all the same: do not repeat the call, check first.",
};

const zh: ResultTexts = {
  gap: "",
  noOutput: "（无输出）",
  notShown: (type, size) => `[${type}，${size}，内容不显示]`,
  moreThan: (size) => `超过 ${size}`,
  truncated: (shown, total) =>
    `… [已截断：只显示前 ${shown} 字节，缺少${total === undefined ? "的字节数未知" : ` ${total - shown} 字节`}]`,
  reported: (message) => `工具报告错误${fullColon(message)}`,
  answered: (status, attempts, message) =>
    `工具返回 HTTP 状态 ${status}${attempts > 1 ? `（共尝试 ${attempts} 次）` : ""}${fullColon(message)}`,
  redirected: (status) => `工具返回重定向（HTTP 状态 ${status}），网关不会跟随。`,
  timedOut: (ms) => `工具在 ${ms} 毫秒后超时。`,
  cancelled: "调用已取消。",
  unreachable: (reason, attempts) => `无法连接到工具（${reason}，共尝试 ${attempts} 次）。`,
  unavailable:
    "该工具最近的调用大多失败，因此未请求。请暂时不要再调用：请在没有该结果的情况下继续，或告知用户。",
  interrupted: (reason, attempts) => `与工具的连接中断（${reason}，共尝试 ${attempts} 次）。`,
  notSent: (message, cause) =>
    cause instanceof TemplateError ? templateFault(cause) : `无法发送请求：${message}`,
  advice: {
    argument: "请更正后重新调用。",
    business: "不要原样重复调用：请更正参数或告知用户。",
    permission: "不要重复调用：请告知用户缺少权限。",
    transient: "请稍后再试，或在没有该结果的情况下继续。",
    permanent: "不要重复调用：请告知用户。",
    timeout: "不要原样重复调用：请在没有该结果的情况下继续，或告知用户。",
    cancelled: "不要重复调用。",
  },
  unknownOutcome: "操作可能已经执行：不要重复调用，请先核实。",
};

/** The sentences in each language. */
export const RESULT_TEXTS: Readonly<Record<Locale, ResultTexts>> = { en, zh };

function templateFault({ problem, parameter }: TemplateError): string {
  switch (problem) {
    case "missing":
      return `缺少参数“${parameter}”。`;
    case "segment":
      return `参数“${parameter}”是地址的一部分，不能为空、“.”或“..”。`;
    case "header":
      return `参数“${parameter}”在请求头中发送：最多 4096 个 Latin-1 字符，不能换行。`;
    case "secret":
      return `此工具的密钥“${parameter}”未设置或无法使用。`;
    case "definition":
      return "此工具的请求定义有误，无法发送。";
    default:
      return problem satisfies never;
  }
}

/** The rest of a sentence that quotes a message, closed by exactly one full stop. */
function colon(message: string): string {
  if (message === "") return ".";
  return /[.!?。！？…]$/u.test(message) ? `: ${message}` : `: ${message}.`;
}

function fullColon(message: string): string {
  if (message === "") return "。";
  return /[.!?。！？…]$/u.test(message) ? `：${message}` : `：${message}。`;
}
