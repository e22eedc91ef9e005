const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Where one member of an object stands in its text: offsets of the key's quote, of the value, and behind the value. */
export interface RawMember {
  name: string;
  from: number;
  valueFrom: number;
  to: number;
}

/**
 * The members of the object that a JSON text is, in its order, repeated names included. The text must be valid JSON with an object
 * at its root; nothing of the values is read, so their spelling, every digit of it, can be handed on. Linear in the text.
 */
export function rawMembers(text: Buffer): RawMember[] {
  const members: RawMember[] = [];
  let at = text.indexOf(OPEN_OBJECT) + 1;
  for (;;) {
    const from = text.indexOf(QUOTE, at);
    if (from < 0) return members;
    const keyEnd = stringEnd(text, from);
    const valueFrom = skipSpace(text, text.indexOf(":", keyEnd) + 1);
    const to = valueEnd(text, valueFrom);
    members.push({ name: JSON.parse(text.toString("utf8", from, keyEnd)) as string, from, valueFrom, to });
    at = skipSpace(text, to);
    if (text[at] !== COMMA) return members;
  }
}

function skipSpace(text: Buffer, from: number): number {
  let at = from;
  while ((text[at] ?? COMMA) <= 0x20) at++;
  return at;
}

/** Offset behind the string that opens at `from`. */
function stringEnd(text: Buffer, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === BACKSLASH) at++;
    else if (text[at] === QUOTE) return at + 1;
  }
  return text.length;
}

function valueEnd(text: Buffer, from: number): number {
  if (text[from] === QUOTE) return stringEnd(text, from);
  if (text[from] !== OPEN_OBJECT && text[from] !== OPEN_ARRAY) return scalarEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const byte = text[at];
    if (byte === QUOTE) at = stringEnd(text, at) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) return at + 1;
  }
  return text.length;
}

function scalarEnd(text: Buffer, from: number): number {
  for (let at = from; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte <= 0x20 || byte === COMMA || byte === CLOSE_OBJECT) return at;
  }
  return text.length;
}

/** The text of an object of these members as they were spelt, and behind them those that are replaced or added, by name, as JSON texts. */
export function withReplaced(
  raw: Buffer,
  members: readonly RawMember[],
  replaced: ReadonlyMap<string, string>,
): string {
  const kept = members.filter(({ name }) => !replaced.has(name));
  const texts = kept.map(({ from, to }) => raw.toString("utf8", from, to));
  for (const [name, text] of replaced) texts.push(`"${name}":${text}`);
  return `{${texts.join(",")}}`;
}
