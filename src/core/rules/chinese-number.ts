import { exactNumber } from "../schema/exact-number.ts";
import { narrowNumber } from "./full-width.ts";

/** Everyday, formal and traditional digits. */
const DIGITS: ReadonlyMap<string, number> = new Map(
  ["零〇", "一壹", "二贰貳两兩", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖"].flatMap(
    (same, digit) => [...same].map((character): [string, number] => [character, digit]),
  ),
);

/** Units inside a group of four digits. */
const SMALL: ReadonlyMap<string, number> = new Map([
  ...[..."十拾"].map((unit): [string, number] => [unit, 10]),
  ...[..."百佰"].map((unit): [string, number] => [unit, 100]),
  ...[..."千仟"].map((unit): [string, number] => [unit, 1_000]),
]);

/** Units between groups, the largest first; each divides what stands before it from what follows. */
const LARGE: readonly [characters: string, value: bigint][] = [
  ["亿億", 100_000_000n],
  ["万萬", 10_000n],
];

/** Longer texts are no numerals that anybody writes. */
const MAX_LENGTH = 64;

/**
 * The number that a Chinese numeral says: `三`, `十二`, `二百五` (250), `两千零三`, `一万二` (12,000), `三点五`, `负三`,
 * `二〇二四` digit by digit, and with digits of any width in place of characters: `１２`, `3.5万`. Everyday, formal and
 * traditional characters. `undefined` for anything else, also for digits that a double cannot keep.
 */
export function chineseNumber(text: string): number | bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const plain = narrowNumber(text.trim());
  const isNegative = /^[负負-]/.test(plain);
  const magnitude = decimalText(isNegative ? plain.slice(1) : plain);
  return magnitude === undefined ? undefined : exactNumber(isNegative ? `-${magnitude}` : magnitude);
}

function decimalText(text: string): string | undefined {
  const [, number = "", unit = ""] = /^(\d+\.\d+)([万萬亿億])$/.exec(text) ?? [];
  if (number !== "") return scaled(number, unit);
  if (/^\d+\.\d+$/.test(text)) return text;
  const [whole = "", fraction, more] = text.split(/[点點]/);
  const integer = integerOf(whole);
  if (integer === undefined || more !== undefined) return undefined;
  if (fraction === undefined) return String(integer);
  const digits = spelled(fraction);
  return digits === undefined ? undefined : `${integer}.${digits}`;
}

/** A decimal number times the value of a large unit, as text without rounding. */
function scaled(number: string, unit: string): string {
  const [whole = "", fraction = ""] = number.split(".");
  const zeros = String(LARGE.find(([characters]) => characters.includes(unit))?.[1]).length - 1;
  const digits = BigInt(whole + fraction.padEnd(zeros, "0"));
  const places = Math.max(0, fraction.length - zeros);
  const padded = String(digits).padStart(places + 1, "0");
  return places === 0 ? padded : `${padded.slice(0, -places)}.${padded.slice(-places)}`;
}

/** Digits one by one, as ASCII. */
function spelled(text: string): string | undefined {
  const digits = [...text].map(
    (character) => DIGITS.get(character) ?? (/\d/.test(character) ? character : ""),
  );
  return digits.length === 0 || digits.includes("") ? undefined : digits.join("");
}

function integerOf(text: string): bigint | undefined {
  const digits = spelled(text);
  if (digits !== undefined) return BigInt(digits);
  return grouped(text, 0);
}

/** What stands before the large unit times its value, and what follows. */
function grouped(text: string, level: number): bigint | undefined {
  const [characters, value] = LARGE[level] ?? [];
  if (characters === undefined || value === undefined) return small(text);
  const at = Math.max(...[...characters].map((character) => text.lastIndexOf(character)));
  if (at < 0) return grouped(text, level + 1);
  // What counts the units may itself hold smaller large ones: 一万亿.
  const count = grouped(text.slice(0, at), level + 1) ?? plainDigits(text.slice(0, at));
  const rest = text.slice(at + 1);
  if (count === undefined || count === 0n) return undefined;
  if (rest === "") return count * value;
  const single = DIGITS.get(rest);
  if (single !== undefined && single > 0) return count * value + (BigInt(single) * value) / 10n;
  const following = grouped(rest, level + 1) ?? plainDigits(rest);
  return following === undefined || following >= value || following === 0n
    ? undefined
    : count * value + following;
}

const plainDigits = (text: string): bigint | undefined => (/^\d+$/.test(text) ? BigInt(text) : undefined);

/** A digit with its unit, or digits alone at the end; a zero may stand before it. */
const PART = /(零|〇)?(?:([^零〇十拾百佰千仟]|\d+)?([十拾百佰千仟])|([^零〇十拾百佰千仟]|\d+)$)/gu;

/** A number below 10,000 with its units in falling order. */
function small(text: string): bigint | undefined {
  let sum = 0;
  let last = 10_000;
  let end = 0;
  for (const match of text.matchAll(PART)) {
    if (match.index !== end) return undefined;
    end += match[0].length;
    const part = partOf(match, last, sum === 0);
    if (part === undefined) return undefined;
    sum += part.value;
    last = part.unit;
  }
  return end === text.length && end > 0 && sum < 10_000 ? BigInt(sum) : undefined;
}

function partOf(
  match: RegExpExecArray,
  last: number,
  isFirst: boolean,
): { value: number; unit: number } | undefined {
  const [, zero, counted, unitName, bare] = match;
  if (unitName === undefined) {
    const digit = digitOf(bare);
    if (digit === undefined || last <= 1) return undefined;
    // 二百五 is 250: what follows a unit without a zero counts the next smaller unit.
    const unit = zero !== undefined || isFirst ? 1 : last / 10;
    return { value: digit * unit, unit: 1 };
  }
  const unit = SMALL.get(unitName) ?? 0;
  // Only ten goes without a digit: 十二, 一百十二.
  const digit = counted === undefined && unit === 10 ? 1 : digitOf(counted);
  return digit === undefined || unit >= last ? undefined : { value: digit * unit, unit };
}

function digitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const digit = DIGITS.get(text) ?? (/^\d$/.test(text) ? Number(text) : undefined);
  return digit === 0 ? undefined : digit;
}
