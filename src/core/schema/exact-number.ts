import type { JsonValue } from "../json/value.ts";

/** A decimal number, `digits` times ten to the power of `exponent`, without trailing zeros in `digits`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Exponents beyond this are no number that a double or an exact integer of sane length can be. */
const MAX_EXPONENT = 400;

/**
 * The number that a text says, if it is a JSON number (RFC 8259) that loses nothing on the way: a safe integer or a double
 * as `number`, a larger integer as `bigint`. `undefined` for anything else, also for digits that a double cannot keep.
 */
export function exactNumber(text: string): number | bigint | undefined {
  if (text.length > MAX_EXPONENT || !NUMBER.test(text)) return undefined;
  const number = Number(text);
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(number) ? number + 0 : BigInt(text);
  if (!Number.isFinite(number)) return undefined;
  const [said, kept] = [decimal(text), decimal(String(number))];
  const isExact = said !== undefined && kept !== undefined && sameDecimal(said, kept);
  return isExact ? number + 0 : integerOf(said);
}

/** Whether a number is a whole multiple of another, as decimals: 19.99 is one of 0.01. */
export function isMultipleOf(value: number | bigint, divisor: number | bigint): boolean {
  const [dividend, unit] = [decimal(String(value)), decimal(String(divisor))];
  if (dividend === undefined || unit === undefined || unit.digits === 0n) return false;
  const shift = dividend.exponent - unit.exponent;
  if (shift >= 0) return (dividend.digits * 10n ** BigInt(shift)) % unit.digits === 0n;
  return dividend.digits % (unit.digits * 10n ** BigInt(-shift)) === 0n;
}

/**
 * A text that two JSON values share exactly if they are equal by JSON Schema: the order of members does not count, nor how a
 * number was written.
 */
export function canonicalText(value: JsonValue): string {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key] as JsonValue)}`).join()}}`;
}

function decimal(text: string): Decimal | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [mantissa = ""] = text.split(/[eE]/);
  const exponent = Number(match[2] ?? 0) - (match[1]?.length ?? 0);
  if (Math.abs(exponent) > 2 * MAX_EXPONENT) return undefined;
  const digits = mantissa.replace(".", "");
  const zeros = /[1-9]/.test(digits) ? (/0*$/.exec(digits)?.[0].length ?? 0) : digits.length;
  return { digits: BigInt(digits.slice(0, digits.length - zeros) || "0"), exponent: exponent + zeros };
}

function sameDecimal(a: Decimal, b: Decimal): boolean {
  return a.digits === b.digits && (a.digits === 0n || a.exponent === b.exponent);
}

/** A decimal as exact integer, if it is one; it is one that a double cannot keep. */
function integerOf(value: Decimal | undefined): bigint | undefined {
  if (value === undefined || value.exponent < 0) return undefined;
  return value.digits * 10n ** BigInt(value.exponent);
}
