import assert from "node:assert/strict";
import { test } from "node:test";
import { scrub } from "../../src/outbound/scrub.ts";

const SECRET = 'kö"y/with+all=kinds';

test("a secret is taken out in every form that a server may repeat it in", () => {
  for (const form of [
    SECRET,
    JSON.stringify(SECRET),
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString("base64"),
    Buffer.from(SECRET).toString("base64url"),
  ]) {
    const clean = scrub(Buffer.from(`before ${form} between ${form} after`), [SECRET]).toString();
    assert.match(clean, /^before "?\[redacted\]"?=* between "?\[redacted\]"?=* after$/, form);
  }
});

test("a body without a secret, and short values, stay as they are", () => {
  const body = Buffer.from("nothing of the kind: abc");
  assert.equal(scrub(body, [SECRET, "abc"]), body);
});
