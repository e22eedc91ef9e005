import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, openTransport, toolOf } from "./tool-fixture.ts";

const never = new AbortController().signal;
const LANES = 20;
const WRITES = 10;

test("writes at the moment when the server closes idle connections all arrive, and arrive once", async (t) => {
  const done: string[] = [];
  const server = http.createServer((request, response) => {
    done.push(String(request.headers["idempotency-key"]));
    response.end("{}");
    // A request that comes on this connection in that very moment is lost.
    setTimeout(() => request.socket.destroy(), 50).unref();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const transport = openTransport(t);
  const write = toolOf(
    { method: "POST", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` },
    { level: "write" },
  );
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let n = 0; n < WRITES; n++) {
      const key = `${lane}:${n}`;
      const reply = await transport.send(write, {}, { ...attempt, idempotencyKey: key }, never);
      assert.equal(reply.status, 200);
      await sleep(49 + (n % 3));
    }
  });
  await Promise.all(lanes);
  assert.deepEqual([done.length, new Set(done).size], [LANES * WRITES, LANES * WRITES]);
});

test("a connection that breaks under a write is never told as not sent", async (t) => {
  const server = http.createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const write = toolOf({ method: "POST", url }, { level: "write" });
  await assert.rejects(openTransport(t).send(write, {}, attempt, never), { kind: "interrupted" });
});
