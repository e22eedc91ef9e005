import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { suite, type TestContext, test } from "node:test";
import { exchange, type RawAnswer } from "../http/raw-client.ts";
import { startGateway } from "./support/gateway.ts";
import { scriptedServer } from "./support/scripted-server.ts";
import { toolServer } from "./support/tool-server.ts";
import { streamed, type UpstreamBody, whole } from "./support/upstream.ts";

const folder = new URL("../../../shared/faults/", import.meta.url);
const AREAS = ["framing", "target", "content-type", "headers", "auth", "json", "chat", "tools"];
const LEVELS = { get_weather: "read", create_order: "write", delete_user: "admin" } as const;
/** Rows that wait longer are played with smaller limits, in the tests of the HTTP edge. */
const PATIENCE_S = 12;

/** For machines that are busy with other things; the list's own sender allows the same. */
const SLACK_MS = 5_000;

/** Rows to which the gateway has another answer than the list, and why. */
const OTHERWISE: Readonly<Record<string, { status: number; why: string }>> = {
  "BI-117": { status: 200, why: "answers are not kept by Idempotency-Key" },
  "BI-129": { status: 400, why: "the row needs a session to stand for; its name as such is malformed" },
  "BI-151": { status: 404, why: "the row needs an approval to stand for" },
  "BI-152": { status: 401, why: "there is no such kind of key" },
  "BI-228": { status: 200, why: "a name that the client declares belongs to the client" },
  "BI-324": { status: 401, why: "there is no such kind of key" },
  "BI-344": { status: 422, why: "the row's URL has another kind of placeholder" },
};

interface Row {
  id: string;
  area: string;
  name: string;
  raw: object | null;
  then?: { fin?: boolean; rst?: boolean };
  limit_s: number;
  expect: { status: (number | string)[]; never: string[] };
}

type Sender = { wire(row: Row): Buffer };

async function startWorld(t: TestContext) {
  const upstream = await scriptedServer<UpstreamBody>(t, ({ body }) =>
    body.stream ? streamed({ text: "Hi." }) : whole({ text: "Hi." }),
  );
  const tools = await toolServer(t);
  const keys = ["client-key", "other-key"].map((key) => `{ name: ${key}, key: ${key}, max_level: write }`);
  const gateway = await startGateway(t, {
    upstream: `${upstream.url}/v1`,
    yaml: `auth: { mode: keys, keys: [${keys.join(", ")}] }`,
    env: { TOOLWEIR_ADMIN_KEY: "admin-key" },
  });
  const headers = { authorization: "Bearer admin-key", "content-type": "application/json" };
  for (const [name, level] of Object.entries(LEVELS)) {
    const http = { method: "POST", url: tools.urlOf(name) };
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const body = JSON.stringify({ description: `Use it to ${name}.`, parameters, http, level });
    const answer = await fetch(`${gateway.url}/tools/${name}`, { method: "PUT", headers, body });
    assert.equal(answer.status, 201);
  }
  return { upstream, tools, gateway, headers };
}

/** What must not come of a row, beside another status. */
function checkNever(row: Row, answer: RawAnswer, asked: number): void {
  const { never } = row.expect;
  const name = `${row.id} ${row.name}`;
  assert.ok(answer.status < 500, `${name}: ${answer.status}`);
  assert.ok(answer.ms < row.limit_s * 1_000 + SLACK_MS, `${name} took ${answer.ms} ms`);
  assert.doesNotMatch(answer.text, /node:internal|node_modules|\n\s+at |canary-4f1d2c/, name);
  if (never.includes("upstream_called")) assert.equal(asked, 0, `${name} reached the upstream`);
  if (never.includes("2xx")) assert.ok(answer.status < 200 || answer.status > 299, name);
}

async function play(row: Row, port: number, bytes: Buffer): Promise<RawAnswer> {
  const whole = (text: string) => row.raw !== null && text.includes("\r\n\r\n") && !row.then;
  return await exchange(port, bytes, whole, (socket) => {
    if (row.then?.fin) socket.end();
    if (row.then?.rst) socket.resetAndDestroy();
  });
}

async function playArea(t: TestContext, rows: readonly Row[], sender: Sender): Promise<void> {
  const { upstream, tools, gateway, headers } = await startWorld(t);
  const port = Number(new URL(gateway.url).port);
  for (const row of rows) {
    const before = upstream.requests.length;
    const answer = await play(row, port, sender.wire(row));
    checkNever(row, answer, upstream.requests.length - before);
    const other = OTHERWISE[row.id];
    const wanted: (number | string)[] = other ? [other.status] : row.expect.status;
    const got = answer.status === 0 ? "close" : answer.status;
    assert.ok(wanted.includes(got), `${row.id} ${row.name}: got ${got}, want ${wanted}`);
  }
  for (const request of upstream.requests) {
    assert.equal(request.headers["cookie"], undefined);
    assert.equal(request.headers["baggage"], undefined);
  }
  assert.equal(gateway.app.engine.openRuns, 0);
  assert.equal(tools.requests.length, 0, "no tool was called");
  for (const name of Object.keys(LEVELS)) {
    const answer = await fetch(`${gateway.url}/tools/${name}`, { headers });
    assert.equal(answer.status, 200, `${name} is still registered`);
  }
}

const CHAT = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
const KEY = "Authorization: Bearer client-key\r\n";

/** A few rows that need no list. */
const SAMPLE: readonly (readonly [what: string, bytes: string, status: number])[] = [
  ["two lengths", `${CHAT}${KEY}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
  ["a length and chunks", `${CHAT}${KEY}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`, 400],
  ["half a JSON", `${CHAT}${KEY}Content-Length: 9\r\n\r\n{"model":`, 400],
  ["deep JSON", `${CHAT}${KEY}Content-Length: 5000\r\n\r\n${"[".repeat(5_000)}`, 400],
  ["no messages", `${CHAT}${KEY}Content-Length: 13\r\n\r\n{"model":"m"}`, 400],
  ["no key", `${CHAT}Content-Length: 2\r\n\r\n{}`, 401],
  ["a client's key on the registry", `GET /tools HTTP/1.1\r\nHost: 127.0.0.1\r\n${KEY}\r\n`, 403],
];

test("bad input is refused before the upstream hears of it", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  for (const [what, bytes, status] of SAMPLE) {
    const answer = await exchange(Number(new URL(gateway.url).port), bytes, (text) => /\r\n\r\n./.test(text));
    assert.equal(answer.status, status, what);
  }
  assert.equal(upstream.requests.length, 0);
});

suite("bad input from clients and administrators", () => {
  for (const area of AREAS) {
    test(`(${area}) gets the answers of the shared list, and breaks nothing`, async (t) => {
      if (!existsSync(folder)) return t.skip("../shared/faults is not there");
      const sender: Sender = await import(new URL("send.mjs", folder).href);
      const lines = readFileSync(new URL("bad-inputs.jsonl", folder), "utf8").trim().split("\n");
      const rows = lines
        .map((line): Row => JSON.parse(line))
        .filter((row) => row.area === area && row.limit_s <= PATIENCE_S);
      assert.ok(rows.length >= 10);
      await playArea(t, rows, sender);
    });
  }
});
