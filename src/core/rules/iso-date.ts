import { chineseNumber } from "./chinese-number.ts";
import { narrowDigits } from "./full-width.ts";

const FORMS = [
  /^(\d{4})\s*[-/.]\s*(\d{1,2})\s*[-/.]\s*(\d{1,2})$/,
  /^(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号號]?$/,
  /^(\d{4})(\d{2})(\d{2})$/,
];

/** A number before its unit, in Chinese characters. */
const SPELLED = /([零〇一二三四五六七八九十]{1,4})(?=\s*[年月日号號])/g;

/**
 * The ISO 8601 date that `2024/01/01`, `2024-1-1`, `2024.1.1`, `2024年1月1日`, `二〇二四年一月一日` or `20240101` says, full-width
 * digits included.
 * `undefined` for anything else, also for a day that the calendar does not have. The order is always year, month, day.
 */
export function isoDate(text: string): string | undefined {
  const plain = narrowDigits(text.trim()).replace(SPELLED, (numeral) =>
    String(chineseNumber(numeral) ?? numeral),
  );
  const [, year = "", month = "", day = ""] =
    FORMS.map((form) => form.exec(plain)).find((match) => match) ?? [];
  if (year === "") return undefined;
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const parsed = new Date(`${date}T00:00:00Z`);
  const isReal = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
  return isReal ? date : undefined;
}
