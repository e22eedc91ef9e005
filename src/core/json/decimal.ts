/** A decimal number, `digits` times ten to the power of `exponent`, without trailing zeros in `digits`. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Exponents beyond this, and texts longer than this, are no number that a double or an exact integer of sane length can be. */
const MAX_EXPONENT = 400;

/** Whether a text is a JSON number (RFC 8259) of sane length. */
export function isNumberText(text: string): boolean {
  return text.length <= MAX_EXPONENT && NUMBER.test(text);
}

/** The number that a JSON number says; `undefined` for other texts, and for exponents out of all proportion. */
export function decimal(text: string): Decimal | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [mantissa = ""] = text.split(/[eE]/);
  const exponent = Number(match[2] ?? 0) - (match[1]?.length ?? 0);
  if (Math.abs(exponent) > 2 * MAX_EXPONENT) return undefined;
  const digits = mantissa.replace(".", "");
  const zeros = /[1-9]/.test(digits) ? (/0*$/.exec(digits)?.[0].length ?? 0) : digits.length;
  return { digits: BigInt(digits.slice(0, digits.length - zeros) || "0"), exponent: exponent + zeros };
}

/** Whether a double, written in its shortest form, says the same number as a JSON number of sane length. */
export function isExact(text: string, double: number): boolean {
  if (!Number.isFinite(double) || !isNumberText(text)) return false;
  const [said, held] = [decimal(text), decimal(String(double))];
  return said !== undefined && held !== undefined && sameDecimal(said, held);
}

function sameDecimal(a: Decimal, b: Decimal): boolean {
  return a.digits === b.digits && (a.digits === 0n || a.exponent === b.exponent);
}
