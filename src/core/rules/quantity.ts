import { exactNumber } from "../schema/exact-number.ts";
import { chineseNumber } from "./chinese-number.ts";

/**
 * The number that a quantity such as `5 km` or `三公里` says in the base unit; `factors` says what one of each unit is worth.
 * Multiplied as decimals, so `1.1 km` is 1100. `undefined` for anything else, also for a unit that is not in the table.
 */
export function quantity(text: string, factors: ReadonlyMap<string, number>): number | bigint | undefined {
  const plain = text.trim();
  // The longest unit that the text ends in: `mm` before `m`.
  const unit = [...factors.keys()]
    .filter((name) => plain.endsWith(name))
    .sort((a, b) => b.length - a.length)
    .at(0);
  if (unit === undefined) return undefined;
  const count = plain.slice(0, -unit.length).trim();
  const number = exactNumber(count) ?? chineseNumber(count);
  const factor = factors.get(unit);
  return number === undefined || factor === undefined ? undefined : product(String(number), String(factor));
}

/** The exact product of two decimal numbers, where a double or an integer can hold it. */
function product(a: string, b: string): number | bigint | undefined {
  const [left, right] = [scientific(a), scientific(b)];
  return exactNumber(plain(left.digits * right.digits, left.exponent + right.exponent));
}

interface Scientific {
  digits: bigint;
  exponent: number;
}

function scientific(text: string): Scientific {
  const [mantissa = "", exponent = "0"] = text.split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** `digits` times ten to the power of `exponent` as a JSON number, an integer without a point. */
function plain(digits: bigint, exponent: number): string {
  if (digits === 0n) return "0";
  if (exponent >= 0) return exponent > 300 ? "" : String(digits * 10n ** BigInt(exponent));
  const text = String(digits);
  const zeros = Math.min(/0*$/.exec(text)?.[0].length ?? 0, -exponent);
  const left = exponent + zeros;
  const short = text.slice(0, text.length - zeros);
  return left === 0 ? short : `${short}e${left}`;
}
