import type { LedgerState } from "../ports/ledger.ts";
import { visibleJson } from "./view.ts";

/** A call as it is shown to people. */
export interface ShownCall {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
  expiresAt: number;
}

/** What is said of calls that a person has to decide about. */
export interface ApprovalTexts {
  /** The end of an answer: to the user, who may be no programmer. */
  ask(calls: readonly ShownCall[]): string;
  /** To the model, by what became of a call that has no result of its own. `said` are the words of whoever decided. */
  told: Readonly<Record<LedgerState, (said: string) => string>>;
  /** To the model, when as many calls wait as may. */
  tooMany(limit: number): string;
  /** To the model: an operator found out what became of the call. */
  resolved(done: boolean, note: string): string;
  /** To the model, beside a result: other arguments were approved than it asked for, as JSON text. */
  edited(args: string): string;
  /** To the model: of this approval nothing is known any more. */
  forgotten: string;
}

/** Characters of arguments that a text shows. */
const MAX_SHOWN = 2_000;

const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;

const shown = (text: string): string => {
  const visible = visibleJson(text);
  return visible.length <= MAX_SHOWN ? visible : `${visible.slice(0, MAX_SHOWN).toWellFormed()}…`;
};

const en: ApprovalTexts = {
  ask: (calls) =>
    [
      `This needs a person's approval before it is done:`,
      ...calls.map(
        ({ id, name, arguments: args, expiresAt }) =>
          `- ${name} ${shown(args)} (approval ${id}, open until ${time(expiresAt)})`,
      ),
    ].join("\n"),
  told: {
    awaiting_approval: () =>
      "This call waits for a person's approval and was not run yet. Do not make it again; tell the user that it waits.",
    approved: () =>
      "A person approved this call; it is about to be carried out. Its result is not known yet. Do not make it again.",
    executing: () =>
      "A person approved this call; it is being carried out. Its result is not known yet. Do not make it again.",
    succeeded: () => "This call was carried out.",
    failed: () => "This call was not carried out.",
    outcome_unknown: () =>
      "It is not known whether this call was carried out: the gateway stopped meanwhile. Do not make it again, check first.",
    denied: (said) =>
      `A person denied this call${said === "" ? "." : `: ${said}`} It was not run. Do not make it again unless the user asks for something else.`,
    expired: () => "Nobody approved this call in time. It was not run. Tell the user.",
    stale: () =>
      "The tool was changed before this call was carried out, so the approval no longer holds. It was not run. Make it again if it is still wanted.",
    cancelled: () => "Whoever asked for this call may not do it any more. It was not run. Tell the user.",
  },
  tooMany: (limit) =>
    `This call needs a person's approval, but ${limit} calls wait for one already. It was not run. Tell the user that those have to be decided first.`,
  resolved: (done, note) =>
    `An operator found out that this call was ${done ? "" : "not "}carried out${note === "" ? "." : `: ${note}`}`,
  edited: (args) => `Whoever approved the call changed its arguments to ${shown(args)}`,
  forgotten:
    "What became of this call is not known any more. If it changed something, do not make it again; check first.",
};

const zh: ApprovalTexts = {
  ask: (calls) =>
    [
      "以下操作需要人工批准后才会执行：",
      ...calls.map(
        ({ id, name, arguments: args, expiresAt }) =>
          `- ${name} ${shown(args)}（审批编号 ${id}，有效期至 ${time(expiresAt)}）`,
      ),
    ].join("\n"),
  told: {
    awaiting_approval: () => "该调用正在等待人工批准，尚未执行。请勿重复调用，并告知用户正在等待批准。",
    approved: () => "该调用已获批准，即将执行，结果尚不可知。请勿重复调用。",
    executing: () => "该调用已获批准，正在执行，结果尚不可知。请勿重复调用。",
    succeeded: () => "该调用已执行。",
    failed: () => "该调用未能执行。",
    outcome_unknown: () => "网关在执行期间停止，无法确定该调用是否已执行。请勿重复调用，先核实。",
    denied: (said) =>
      `该调用被人工拒绝${said === "" ? "。" : `：${said}`}未执行。除非用户另有要求，请勿再次调用。`,
    expired: () => "该调用在有效期内未获批准，未执行。请告知用户。",
    stale: () => "工具在执行前已被修改，批准失效，未执行。如仍需要，请重新调用。",
    cancelled: () => "请求该调用的一方已无权执行，未执行。请告知用户。",
  },
  tooMany: (limit) =>
    `该调用需要人工批准，但已有 ${limit} 个调用在等待批准，未执行。请告知用户先处理这些审批。`,
  resolved: (done, note) =>
    `操作员已核实：该调用${done ? "已" : "未"}执行${note === "" ? "。" : `：${note}`}`,
  edited: (args) => `批准人将参数改为 ${shown(args)}`,
  forgotten: "已无法得知该调用的结果。如果它会修改数据，请勿重复调用，先核实。",
};

/** By the language in which the model is spoken to. */
export const APPROVAL_TEXTS = { en, zh };
