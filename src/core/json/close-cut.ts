/** Where the reading of a text has come to. */
interface Place {
  /** What closes the open objects and arrays, innermost last. */
  closers: string[];
  /** The last of `{ [ ] } , :` outside of strings. */
  last: string;
  /** Up to here everything is complete but for what `closers` close. */
  safe: number;
}

const CLOSER: Readonly<Record<string, string>> = { "{": "}", "[": "]" };

/**
 * A JSON text that was cut off somewhere, closed where it ends: a string value that was being read ends in `…`, any other value and a member
 * without a value are left out. `undefined` for a text that is no object or array, or has come to its end. What was no JSON before is none
 * after it either. Time is linear.
 */
export function closeCut(text: string): string | undefined {
  const place: Place = { closers: [], last: "", safe: 0 };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '"') {
      const end = stringEnd(text, at);
      if (!end.closed) return closed(isValue(place) ? `${text.slice(0, end.at)}…"` : undefined, text, place);
      at = end.at;
    } else if ("{[]},:".includes(character)) step(place, character, at);
  }
  return closed(undefined, text, place);
}

function closed(withString: string | undefined, text: string, { closers, safe }: Place): string | undefined {
  if (closers.length === 0) return undefined;
  return (withString ?? text.slice(0, safe)) + closers.toReversed().join("");
}

function step(place: Place, character: string, at: number): void {
  place.last = character;
  const closer = CLOSER[character];
  if (closer !== undefined) place.closers.push(closer);
  else if (character === "]" || character === "}") place.closers.pop();
  if (character === ",") place.safe = at;
  else if (character !== ":") place.safe = at + 1;
}

/** A string behind a colon or in an array is a value; another one in an object is a name. */
function isValue({ last, closers }: Place): boolean {
  return last === ":" || closers.at(-1) === "]";
}

/** The closing quote, or where the text breaks off: before an escape that is not whole. */
function stringEnd(text: string, start: number): { at: number; closed: boolean } {
  let at = start + 1;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') return { at, closed: true };
    const length = character !== "\\" ? 1 : text[at + 1] === "u" ? 6 : 2;
    if (at + length > text.length) break;
    at += length;
  }
  return { at, closed: false };
}
