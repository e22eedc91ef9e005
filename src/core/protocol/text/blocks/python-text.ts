/** A number of Python, with all its digits, as JSON spells it. */
export function numberToJson(written: string): string {
  const number = written.replaceAll("_", "").replace(/^\+/, "");
  const [sign, digits] = number.startsWith("-") ? ["-", number.slice(1)] : ["", number];
  if (/^0[xob]/i.test(digits)) return sign + BigInt(digits).toString();
  const [mantissa = "", exponent] = digits.toLowerCase().split("e");
  const [whole = "", fraction] = mantissa.split(".");
  const integer = whole.replace(/^0+(?=\d)/, "") || "0";
  const decimals = fraction === undefined ? "" : `.${fraction || "0"}`;
  return `${sign}${integer}${decimals}${exponent === undefined ? "" : `e${exponent}`}`;
}

/** The beginning of an escape at the end of a text. */
export const CUT_ESCAPE = /((?:^|[^\\])(?:\\\\)*)\\(?:x[\da-f]?|u[\da-f]{0,3}|U[\da-f]{0,7})?$/i;
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g;
const CONTROL: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\x07",
  "\n": "",
};

/** What the inside of a string of Python means. */
export function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (all, x?: string, u?: string, long?: string, octal?: string, other = "") => {
    const hex = x ?? u ?? long;
    if (hex !== undefined) {
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    }
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if ("\\'\"/".includes(other)) return other;
    return CONTROL[other] ?? all;
  });
}
