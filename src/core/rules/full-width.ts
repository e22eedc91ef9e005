/** Full-width digits as ASCII digits; everything else as it is. */
export function narrowDigits(text: string): string {
  return text.replace(/[０-９]/g, narrow);
}

/** Full-width digits, point and minus as ASCII; everything else as it is. */
export function narrowNumber(text: string): string {
  return text.replace(/[０-９．－]/g, narrow);
}

/** The full-width forms stand in the order of ASCII (Unicode block "Halfwidth and Fullwidth Forms"). */
const narrow = (wide: string): string => String.fromCharCode(wide.charCodeAt(0) - 0xfee0);
