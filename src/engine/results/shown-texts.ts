import type { Locale } from "./result-text.ts";
import type { Missing } from "./shorten.ts";

/** Notes beside a result of which the model does not see all. */
export interface ShownTexts {
  /** `total` and `shown` are bytes; `places` are where something is missing, `others` how many more places there are. */
  shortened(shown: number, total: number, places: readonly Missing[], others: number): string;
  /** The result was longer than what was read of it. */
  cutOff(read: number): string;
  /** The tool's `result.select` found nothing where these members were. */
  nothingSelected(members: readonly string[]): string;
  /** The tool's `result.select` could not be applied. */
  notSelected(reason: string): string;
  /** The whole result can be read with `read_result`. */
  stored(tool: string): string;
  /** More of it than this was not read. */
  storedPart(tool: string): string;
}

const EN_WHAT = { items: "last items", members: "members", characters: "last characters" } as const;
const ZH_WHAT = { items: "末尾 {} 项", members: "{} 个成员", characters: "末尾 {} 个字符" } as const;

const en: ShownTexts = {
  shortened(shown, total, places, others) {
    const listed = places.map(
      ({ path, what, missing, of }) => `${EN_WHAT[what]} of ${path || "data"}: ${missing} of ${of}`,
    );
    const more = others > 0 ? ` And so in ${others} more places.` : "";
    return `The data is shortened to ${shown} of ${total} bytes. Missing are: ${listed.join("; ")}.${more}`;
  },
  cutOff: (read) => `The result is longer than the ${read} bytes that were read of it: its end is missing.`,
  nothingSelected: (members) =>
    `The part of the result that this tool shows is not there. The result has ${members.length === 0 ? "no members" : `the members ${quoted(members)}`}.`,
  notSelected: (reason) =>
    `The part of the result that this tool shows could not be taken out of it: ${reason}. Tell the user.`,
  stored: (tool) => `The whole result is stored. Read more of it with ${tool} and this reference.`,
  storedPart: (tool) =>
    `The first part of the result is stored, more of it was not read. Read on in it with ${tool} and this reference.`,
};

const zh: ShownTexts = {
  shortened(shown, total, places, others) {
    const listed = places.map(
      ({ path, what, missing, of }) =>
        `${path || "data"} 缺少${ZH_WHAT[what].replace("{}", String(missing))}（共 ${of}）`,
    );
    const more = others > 0 ? `另有 ${others} 处。` : "";
    return `数据已缩短：${total} 字节中显示 ${shown} 字节。${listed.join("；")}。${more}`;
  },
  cutOff: (read) => `结果超过已读取的 ${read} 字节，末尾缺失。`,
  nothingSelected: (members) =>
    `该工具要展示的部分在结果中不存在。结果${members.length === 0 ? "没有成员" : `的成员有：${quoted(members)}`}。`,
  notSelected: (reason) => `无法从结果中取出该工具要展示的部分（${reason}）。请告知用户。`,
  stored: (tool) => `完整结果已保存。可用 ${tool} 和此 reference 继续读取。`,
  storedPart: (tool) => `结果的前一部分已保存，其余部分未读取。可用 ${tool} 和此 reference 继续读取。`,
};

/** The notes in each language. */
export const SHOWN_TEXTS: Readonly<Record<Locale, ShownTexts>> = { en, zh };

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}
