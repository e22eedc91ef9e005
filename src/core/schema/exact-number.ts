import { type Decimal, decimal, isExact, isNumberText } from "../json/decimal.ts";
import type { JsonValue } from "../json/value.ts";

/**
 * The number that a text says, if it is a JSON number (RFC 8259) that loses nothing on the way: a safe integer or a double
 * as `number`, a larger integer as `bigint`. `undefined` for anything else, also for digits that a double cannot keep.
 */
export function exactNumber(text: string): number | bigint | undefined {
  if (!isNumberText(text)) return undefined;
  const number = Number(text);
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(number) ? number + 0 : BigInt(text);
  if (!Number.isFinite(number)) return undefined;
  return isExact(text, number) ? number + 0 : integerOf(decimal(text));
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

/** A decimal as exact integer, if it is one; it is one that a double cannot keep. */
function integerOf(value: Decimal | undefined): bigint | undefined {
  if (value === undefined || value.exponent < 0) return undefined;
  return value.digits * 10n ** BigInt(value.exponent);
}
