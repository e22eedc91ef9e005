import { nearest } from "../../core/schema/nearest.ts";

/** What the model is told of a call that is answered without being run. */
export interface CallTexts {
  /** The run's allowance of calls is used up. */
  limit: string;
  /** The time for the calls of a round is over. */
  phaseOver: string;
  /** The reply was stopped because of another call in it. */
  stopped: string;
  /** The same call stands earlier in the message, under this id. */
  duplicate(id: string): string;
  /** The note beside the result that the same call brought in an earlier round. */
  repeated: string;
  /** Nobody declared a tool of this name; `names` are the declared ones. */
  unknownTool(name: string, names: readonly string[]): string;
  /** The store did not take that a call is about to be made. */
  notStored: string;
  /** The store did not tell of the session that the call depends on. */
  sessionUnknown: string;
  /** The note beside the answer of a fallback. */
  inPlaceOf(fallback: string, failed: string): string;
  /** The note beside the answer to a call that used these parameters. */
  deprecated(parameters: readonly string[]): string;
  /** The note beside the answer of a deprecated tool. */
  deprecatedTool(name: string, use: string | undefined): string;
}

/** How many names are listed where none is like the one that was called. */
const MAX_LISTED = 20;

const en: CallTexts = {
  limit: "The limit of tool calls is reached; this call was not run. Answer with what you have.",
  phaseOver:
    "The time for tool calls in this round is over; this call was not run. Go on without it or tell the user.",
  stopped:
    "This call was not run: the reply was stopped at another call in it, whose arguments cannot be valid. Make this call again if it is still needed.",
  duplicate: (id) => `duplicate call ignored: it is the same as ${id}, whose result holds for both.`,
  repeated:
    "This call was made before with the same arguments; this is its earlier result. Do not repeat it: use the result or answer.",
  unknownTool(name, names) {
    const near = nearest(name, names);
    const hint =
      near.length > 0 ? `Did you mean ${listed(near)}?` : `The tools are: ${listed(names) || "none"}.`;
    return `There is no tool named "${name}". ${hint} Call one of the declared tools or answer without.`;
  },
  sessionUnknown:
    "This call was not run: the gateway cannot read the state of the session at the moment. Tell the user, who can try again later.",
  notStored:
    "This call was not run: the gateway cannot write down what it does at the moment. Nothing was changed. Tell the user, who can try again later.",
  inPlaceOf: (fallback, failed) => `"${failed}" failed; this is the answer of "${fallback}" in its place.`,
  deprecatedTool: (name, use) =>
    `"${name}" is deprecated${use === undefined ? ": do not use it from now on" : `: use "${use}" from now on`}.`,
  deprecated: (parameters) => `Deprecated, leave out from now on: ${listed(parameters)}.`,
};

const zh: CallTexts = {
  limit: "工具调用次数已达上限，该调用未执行。请用已有信息回答。",
  phaseOver: "本轮工具调用的时间已用完，该调用未执行。请在没有它的情况下继续，或告知用户。",
  stopped: "该调用未执行：同一回复中另一个调用的参数不合法，回复已被中止。如仍需要，请重新发起该调用。",
  duplicate: (id) => `重复的调用已忽略：与 ${id} 相同，结果以其为准。`,
  repeated: "该调用此前已用相同参数执行过，这是先前的结果。请勿重复，直接使用结果或回答。",
  unknownTool(name, names) {
    const near = nearest(name, names);
    const hint = near.length > 0 ? `您是否想用 ${listed(near)}？` : `可用的工具：${listed(names) || "无"}。`;
    return `没有名为“${name}”的工具。${hint}请使用已声明的工具，或直接回答。`;
  },
  sessionUnknown: "该调用未执行：网关暂时无法读取会话状态。请告知用户稍后再试。",
  notStored: "该调用未执行：网关暂时无法记录操作，没有任何更改。请告知用户稍后再试。",
  inPlaceOf: (fallback, failed) => `“${failed}”失败，这是备用工具“${fallback}”的结果。`,
  deprecatedTool: (name, use) =>
    `工具“${name}”已弃用${use === undefined ? "，今后请勿使用" : `，今后请使用“${use}”`}。`,
  deprecated: (parameters) => `已弃用的参数，今后请勿使用：${listed(parameters)}。`,
};

/** By the language in which the model is spoken to. */
export const CALL_TEXTS = { en, zh };

function listed(names: readonly string[]): string {
  return names
    .slice(0, MAX_LISTED)
    .map((name) => `"${name}"`)
    .join(", ");
}
