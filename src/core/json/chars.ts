/** The UTF-16 units that JSON's grammar (RFC 8259) is made of. */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const LETTER_F = 0x66;
export const LETTER_N = 0x6e;
export const LETTER_T = 0x74;
export const LETTER_U = 0x75;
/** Units below this one are control characters, which a string holds only as escapes. */
export const FIRST_PRINTABLE = 0x20;

/** Whether this is one of the four units that JSON knows as white space. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Whether this is one of the digits 0 to 9. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Whether a number may begin with this unit. */
export function beginsNumber(code: number): boolean {
  return code === 0x2d || isDigit(code);
}
