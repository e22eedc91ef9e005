/** Shorter values are no secrets worth the name, and would be found in innocent text. */
const MIN_LENGTH = 8;
const REDACTED = Buffer.from("[redacted]");

/**
 * A body without the secrets that were sent for it: as they are, as JSON and URLs write them, and in base64. Returns the body itself where none is in it.
 */
export function scrub(body: Buffer, secrets: Iterable<string>): Buffer {
  let clean = body;
  for (const secret of secrets) {
    if (secret.length < MIN_LENGTH) continue;
    for (const form of formsOf(secret)) clean = replaceAll(clean, form);
  }
  return clean;
}

function formsOf(secret: string): Set<string> {
  const plain = secret.trim();
  return new Set([
    plain,
    JSON.stringify(plain).slice(1, -1),
    encodeURIComponent(plain),
    Buffer.from(plain).toString("base64").replace(/=+$/, ""),
    Buffer.from(plain).toString("base64url"),
  ]);
}

function replaceAll(body: Buffer, text: string): Buffer {
  const wanted = Buffer.from(text);
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = body.indexOf(wanted); at >= 0; at = body.indexOf(wanted, from)) {
    parts.push(body.subarray(from, at), REDACTED);
    from = at + wanted.length;
  }
  return parts.length === 0 ? body : Buffer.concat([...parts, body.subarray(from)]);
}
