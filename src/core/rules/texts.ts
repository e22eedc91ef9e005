import { shorten } from "../schema/message-parts.ts";
import { spell } from "../schema/place.ts";
import type { RuleMessage } from "../tool.ts";
import type { GuardProblem, PathFault } from "./guard.ts";

/** Languages of the messages written for the model. */
export type Locale = "en" | "zh";

/** Characters of what a service says. */
const MAX_SAID = 500;

interface Texts {
  character(name: string, character: string): string;
  path(name: string, fault: PathFault): string;
  unclear(rule: string, reason: string): string;
  unfit(fault: string): string;
  refused: string;
  precondition: string;
  unavailable: string;
}

const FAULTS: Readonly<Record<PathFault, readonly [en: string, zh: string]>> = {
  nul: ["hold a NUL character", "包含 NUL 字符"],
  absolute: ["be absolute", "是绝对路径"],
  parent: ['hold ".."', "包含 “..”"],
};

const TEXTS: Readonly<Record<Locale, Texts>> = {
  en: {
    character: (name, character) =>
      `Parameter "${name}" must not hold the character ${character}. Leave it out and call again.`,
    path: (name, fault) =>
      `Parameter "${name}" is a path inside of a folder: it must not ${FAULTS[fault][0]}. Correct it and call again.`,
    unclear: (rule, reason) =>
      `The ${rule} of this tool cannot be applied to these arguments: ${reason}. Correct them and call again.`,
    unfit: (fault) => `In the form that this tool needs, the arguments do not fit. ${fault}`,
    refused: "A rule of this tool does not allow these arguments.",
    precondition: "This tool cannot be used yet: something else has to be done first in this conversation.",
    unavailable:
      "A check that this tool needs could not be made just now, so it was not run. Go on without it or tell the user.",
  },
  zh: {
    character: (name, character) => `参数“${name}”不能包含字符 ${character}。请去掉后重新调用。`,
    path: (name, fault) => `参数“${name}”是文件夹内的相对路径，不能${FAULTS[fault][1]}。请更正后重新调用。`,
    unclear: (rule, reason) => `该工具的${rule}无法用于这些参数：${reason}。请更正后重新调用。`,
    unfit: (fault) => `参数转换为该工具需要的形式后不符合要求。${fault}`,
    refused: "该工具的规则不允许这些参数。",
    precondition: "目前还不能使用该工具：需先在本次会话中完成其他步骤。",
    unavailable: "目前无法完成该工具所需的检查，未执行。请在没有它的情况下继续，或告知用户。",
  },
};

/** What the model is told of a string that the guard refuses. */
export function guardText(problem: GuardProblem, locale: Locale): string {
  const name = spell(problem.path);
  if (problem.kind === "path") return TEXTS[locale].path(name, problem.fault);
  return TEXTS[locale].character(name, nameOf(problem.character));
}

/** What the model is told of a precondition without a message of its own. */
export const preconditionText = (locale: Locale): string => TEXTS[locale].precondition;

/** What the model is told of a rule that could not be evaluated. */
export function unclearText(name: string | undefined, reason: string, locale: Locale): string {
  const rule = { en: name ? `rule "${name}"` : "rule", zh: name ? `规则“${name}”` : "规则" }[locale];
  return TEXTS[locale].unclear(rule, shorten(reason, 200));
}

/** What the model is told where normalised arguments do not fit the schema; `fault` says how. */
export const unfitText = (fault: string, locale: Locale): string => TEXTS[locale].unfit(fault);

/** What the model is told where a service could not be asked. */
export const unavailableText = (locale: Locale): string => TEXTS[locale].unavailable;

/** A rule's own message in the language of the run, or the one it has. */
export function ruleText(message: RuleMessage | undefined, locale: Locale): string {
  if (typeof message === "string") return message;
  return message?.[locale] ?? message?.en ?? message?.zh ?? TEXTS[locale].refused;
}

/** What a service said, as far as the model may see it; the rule's own message goes before it. */
export function saidText(message: RuleMessage | undefined, said: unknown, locale: Locale): string {
  const isSaid = message === undefined && typeof said === "string" && said.trim() !== "";
  return isSaid ? shorten(said, MAX_SAID) : ruleText(message, locale);
}

/** A character with its number, and itself where it can be seen. */
function nameOf(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  return /[\p{C}\p{Z}\p{M}]/u.test(character) ? code : `"${character}" (${code})`;
}
