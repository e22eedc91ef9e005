import { EXAMPLES } from "./format-examples.ts";
import { type Listed, list, type Sent, type Wording } from "./message-parts.ts";
import type { Rule } from "./problem.ts";

const AGAIN = "请更正后重新调用。";

const TYPES: Readonly<Record<string, string>> = {
  object: "对象",
  array: "数组",
  string: "字符串",
  number: "数字",
  integer: "整数",
  boolean: "布尔值（true 或 false）",
  null: "null",
};

/** Shorter, where several types are possible. */
const SHORT: Readonly<Record<string, string>> = { boolean: "布尔值" };

/** What each rule demands; `limit` is already written as text. */
const RULES: Readonly<Record<Rule, (limit: string) => string>> = {
  minimum: (limit) => `必须大于或等于 ${limit}`,
  maximum: (limit) => `必须小于或等于 ${limit}`,
  exclusiveMinimum: (limit) => `必须大于 ${limit}`,
  exclusiveMaximum: (limit) => `必须小于 ${limit}`,
  multipleOf: (limit) => `必须是 ${limit} 的倍数`,
  minLength: (limit) => `至少要有 ${limit} 个字符`,
  maxLength: (limit) => `最多只能有 ${limit} 个字符`,
  pattern: (limit) => `必须匹配正则表达式 ${limit}`,
  format: (limit) => (EXAMPLES.has(limit) ? `必须形如 ${EXAMPLES.get(limit)}` : `必须符合格式 ${limit}`),
  minItems: (limit) => `至少要有 ${limit} 个元素`,
  maxItems: (limit) => `最多只能有 ${limit} 个元素`,
  uniqueItems: () => "不能含有重复的元素",
  contains: (limit) => `至少要有 ${limit} 个 schema 要求的元素`,
  maxContains: (limit) => `最多只能有 ${limit} 个 schema 限定的元素`,
  additionalItems: () => "的元素多于 schema 允许的数量",
  unevaluatedItems: () => "的元素多于 schema 允许的数量",
  minProperties: (limit) => `至少要有 ${limit} 个成员`,
  maxProperties: (limit) => `最多只能有 ${limit} 个成员`,
  propertyNames: (limit) => `不能有名为 ${limit} 的成员`,
  oneOf: (limit) => `必须恰好符合 schema 允许的 ${limit} 种形式之一`,
  anyOf: (limit) => `必须符合 schema 允许的 ${limit} 种形式之一`,
  not: () => "是 schema 禁止的形式",
  "false schema": () => "在这里不允许出现",
};

/** The messages in Chinese. */
export const chinese: Wording = {
  missing(names, unexpected, meant) {
    const missing = `缺少参数 ${quoted(names)}`;
    if (unexpected.count === 0) return `${missing}。请补上后重新调用。`;
    const hint = meant === undefined ? "。" : `；您是否想用“${meant}”？`;
    return `${missing}，而您发送了未知参数 ${quoted(unexpected)}${hint}${AGAIN}`;
  },
  unexpected(names, near, known) {
    const unknown = `未知参数 ${quoted(names)}`;
    if (near.length > 0) return `${unknown}；您是否想用${list(near.map(inQuotes), "或", "、")}？${AGAIN}`;
    const listed = known.count > 0 ? `已知参数有${quoted(known)}` : "这里不允许任何参数";
    return `${unknown}；${listed}。${AGAIN}`;
  },
  type(name, types, value) {
    const words = types.map(
      (type) => (types.length > 1 ? (SHORT[type] ?? TYPES[type]) : TYPES[type]) ?? type,
    );
    return `${parameter(name)}必须是${list(words, "或", "、")}，但您发送的是${described(value)}。${AGAIN}`;
  },
  enum(name, { shown, count }, value, near) {
    const nearby = list(near.map(inQuotes), "或", "、");
    if (count > shown.length && nearby !== "") {
      return `${parameter(name)}必须是 ${count} 个值之一，最接近的是${nearby}，但您发送的是${described(value)}。${AGAIN}`;
    }
    const more = count > shown.length ? ` 等 ${count} 个值` : "";
    const wanted = count === 1 ? `必须是 ${shown[0]}` : `必须是 ${shown.join("、")}${more} 之一`;
    const nearest = nearby !== "" && count > 1 ? `最接近的是${nearby}。` : "";
    return `${parameter(name)}${wanted}，但您发送的是${described(value)}。${nearest}${AGAIN}`;
  },
  rule(rule, name, limit, value) {
    return `${parameter(name)}${RULES[rule](limit)}，但您发送的是${described(value)}。${AGAIN}`;
  },
  bound(bound, name, limit) {
    switch (bound) {
      case "depth":
        return `参数的嵌套超过 ${limit} 层。请发送更扁平的参数。`;
      case "length":
        return `参数超过 ${limit} 个字符。请缩短后重新调用。`;
      case "time":
        return "参数过于复杂，检查耗时太长。请发送更短或更简单的参数。";
      case "items":
        return `${parameter(name)}最多只能有 ${limit} 个元素。请减少后重新调用。`;
      default:
        return bound satisfies never;
    }
  },
};

function parameter(name: string | undefined): string {
  return name === undefined ? "参数整体" : `参数${inQuotes(name)}`;
}

function inQuotes(name: string): string {
  return `“${name}”`;
}

function quoted({ shown, count }: Listed): string {
  const names = shown.map(inQuotes);
  return count > shown.length ? `${names.join("、")}等 ${count} 个` : list(names, "和", "、");
}

function described({ type, text }: Sent): string {
  return type === "null" || type === "boolean" ? ` ${text}` : `${TYPES[type] ?? type} ${text}`;
}
