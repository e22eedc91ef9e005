import type { Locale } from "../../core/schema/message.ts";
import type { RateScope } from "./rates.ts";

/** What a model is told of a call that may not run now. */
interface RateTexts {
  /** The bound of a key, user or session, and the seconds after which it begins anew. */
  rate(scope: RateScope, limit: number, seconds: number): string;
  toolRate(tool: string, limit: number, seconds: number): string;
  quota(tool: string, limit: number, period: "day" | "month"): string;
}

const en: RateTexts = {
  rate: (scope, limit, seconds) =>
    `The limit of ${limit} tool calls per minute for this ${scope} is reached; it was not run. Answer with what you have, or call again in ${seconds} s.`,
  toolRate: (tool, limit, seconds) =>
    `"${tool}" may be called ${limit} times per minute; it was not run. Answer with what you have, or call again in ${seconds} s.`,
  quota: (tool, limit, period) =>
    `"${tool}" may be called ${limit} times per ${period}, which is used up; it was not run. Do not call it again; tell the user.`,
};

const SCOPES_ZH: Readonly<Record<RateScope, string>> = { key: "密钥", user: "用户", session: "会话" };

const zh: RateTexts = {
  rate: (scope, limit, seconds) =>
    `此${SCOPES_ZH[scope]}每分钟最多调用工具 ${limit} 次，已达上限，未执行。请用已有信息回答，或 ${seconds} 秒后再调用。`,
  toolRate: (tool, limit, seconds) =>
    `工具“${tool}”每分钟最多调用 ${limit} 次，已达上限，未执行。请用已有信息回答，或 ${seconds} 秒后再调用。`,
  quota: (tool, limit, period) =>
    `工具“${tool}”每${period === "day" ? "天" : "月"}最多调用 ${limit} 次，已用完，未执行。请勿再调用，并告知用户。`,
};

/** By the language in which the model is spoken to. */
export const RATE_TEXTS: Readonly<Record<Locale, RateTexts>> = { en, zh };
