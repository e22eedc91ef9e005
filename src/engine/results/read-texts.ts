import type { Locale } from "./result-text.ts";

/** What the model is told of `read_result`, and where it brings nothing. */
export interface ReadTexts {
  description: string;
  parameters: Readonly<Record<"reference" | "path" | "search" | "offset" | "limit", string>>;
  unknown(minutes: number): string;
  noPaths: string;
  badPath(reason: string): string;
  nothingAt(path: string, members: readonly string[]): string;
  behindEnd(length: number): string;
}

const en: ReadTexts = {
  description:
    "Reads more of a long tool result of which you were given a reference. Use it when the summary does not answer the question. Search first where you know what you look for.",
  parameters: {
    reference: "The reference of the result, as it stands in its summary",
    path: "The part of a JSON result to read, as JMESPath (items[?price < `10`].name) or as JSON pointer (/items/0/name)",
    search: "Text to look for; upper and lower case are the same",
    offset:
      "Where to begin: the item of an array, the character of a text, or the place found by a search; from 0",
    limit: "How many items, characters or places to show at the most",
  },
  unknown: (minutes) =>
    `There is no stored result under this reference. Results are kept for ${minutes} min: if it has expired, call the tool again.`,
  noPaths: "This result is text and has no paths. Read it with offset, or search in it.",
  badPath: (reason) => `The path cannot be used: ${reason}.`,
  nothingAt: (path, members) =>
    `There is nothing at the path ${JSON.stringify(path)}.${members.length > 0 ? ` The result has the members ${members.map((name) => JSON.stringify(name)).join(", ")}.` : ""}`,
  behindEnd: (length) => `The offset is behind the end: there are ${length}.`,
};

const zh: ReadTexts = {
  description: "读取已给出 reference 的较长工具结果。摘要不足以回答问题时使用；知道要找什么时请先搜索。",
  parameters: {
    reference: "结果摘要中给出的 reference",
    path: "要读取的 JSON 部分：JMESPath（items[?price < `10`].name）或 JSON 指针（/items/0/name）",
    search: "要查找的文本，不区分大小写",
    offset: "从哪里开始：数组的项、文本的字符或搜索到的位置，从 0 计数",
    limit: "最多显示多少项、字符或位置",
  },
  unknown: (minutes) =>
    `此 reference 没有对应的已保存结果。结果只保留 ${minutes} 分钟：如已过期，请重新调用该工具。`,
  noPaths: "该结果是文本，没有路径。请用 offset 读取，或在其中搜索。",
  badPath: (reason) => `该路径无法使用：${reason}。`,
  nothingAt: (path, members) =>
    `路径 ${JSON.stringify(path)} 处没有内容。${members.length > 0 ? `结果的成员有：${members.map((name) => JSON.stringify(name)).join(", ")}。` : ""}`,
  behindEnd: (length) => `offset 超出末尾：共有 ${length}。`,
};

/** The sentences in each language. */
export const READ_TEXTS: Readonly<Record<Locale, ReadTexts>> = { en, zh };
