import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { createEdge } from "./edge.ts";
import { exchange, listen } from "./raw-client.ts";

const folder = new URL("../../../shared/faults/", import.meta.url);
const AREAS = ["framing", "target", "content-type", "json", "auth"];
/** Rows that need keys, routes or patience that the bare edge does not have. */
const ELSEWHERE = ["BI-151", "BI-152"];

interface Row {
  id: string;
  area: string;
  name: string;
  raw: object | null;
  then?: { fin?: boolean; rst?: boolean };
  limit_s: number;
  expect: { status: (number | string)[] };
}

/** The bytes of a row, made by the list's own sender. */
type Sender = { wire(row: Row): Buffer };

test("the shared list of bad inputs gets the answers it asks for", async (t) => {
  if (!existsSync(folder)) return t.skip("../shared/faults is not there");
  const sender: Sender = await import(new URL("send.mjs", folder).href);
  const lines = readFileSync(new URL("bad-inputs.jsonl", folder), "utf8").trim().split("\n");
  const rows = lines.map((line): Row => JSON.parse(line));
  const { app, errors } = createEdge();
  const port = await listen(app, t);
  let sent = 0;
  for (const row of rows) {
    if (!AREAS.includes(row.area) || ELSEWHERE.includes(row.id) || row.limit_s > 10) continue;
    sent++;
    const whole = (text: string) => row.raw !== null && text.includes("\r\n\r\n") && !row.then;
    const answer = await exchange(port, sender.wire(row), whole, (socket) => {
      if (row.then?.fin) socket.end();
      if (row.then?.rst) socket.resetAndDestroy();
    });
    const got = answer.status === 0 ? "close" : answer.status;
    assert.ok(
      row.expect.status.includes(got),
      `${row.id} ${row.name}: got ${got}, want ${row.expect.status}`,
    );
    assert.ok(answer.ms < row.limit_s * 1000, `${row.id} ${row.name} took ${answer.ms} ms`);
  }
  assert.ok(sent > 80);
  assert.deepEqual(errors, []);
  assert.deepEqual(Object.keys(Object.prototype), []);
});
