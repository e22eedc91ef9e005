import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { buildConnector } from "undici";
import { createAddressGuard } from "../../src/outbound/address-guard.ts";
import { createToolTransport } from "../../src/outbound/tool-http.ts";
import { attempt, openTransport, toolOf } from "./tool-fixture.ts";

const never = new AbortController().signal;

/** A server that counts connections and the requests that came before each. */
async function counting(t: TestContext) {
  const log: string[] = [];
  const server = http.createServer((_, response) => {
    log.push("request");
    response.end("{}");
  });
  server.on("connection", () => log.push("connection"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { log, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Waits until this many connections have come in, and a moment for the other end to notice. */
async function connected(log: readonly string[], count: number): Promise<void> {
  while (log.filter((event) => event === "connection").length < count) await sleep(5);
  await sleep(50);
}

test("a connection that was made in advance is the one that the request uses", async (t) => {
  const { log, url } = await counting(t);
  const transport = openTransport(t);
  const tool = toolOf({ url: `${url}/{id}` });
  transport.warm?.(tool);
  transport.warm?.(tool);
  await connected(log, 1);
  assert.deepEqual(log, ["connection"]);
  await transport.send(tool, { id: "1" }, attempt, never);
  await sleep(30);
  transport.warm?.(tool);
  await transport.send(tool, { id: "2" }, attempt, never);
  assert.deepEqual(log, ["connection", "request", "request"]);
});

test("a write gets a connection of its own, whatever is open", async (t) => {
  const { log, url } = await counting(t);
  const transport = openTransport(t);
  const write = toolOf({ url }, { level: "write" });
  transport.warm?.(write);
  await sleep(20);
  assert.deepEqual(log, []);
  for (let n = 0; n < 3; n++) await transport.send(write, {}, attempt, never);
  assert.equal(log.join(" "), "connection request connection request connection request");
});

test("a ready connection that the server has closed is not used", async (t) => {
  const { log, server, url } = await counting(t);
  const transport = openTransport(t);
  transport.warm?.(toolOf({ url }));
  await connected(log, 1);
  server.closeAllConnections();
  await sleep(100);
  assert.equal((await transport.send(toolOf({ url }), {}, attempt, never)).status, 200);
  assert.equal(log.filter((event) => event === "connection").length, 2);
});

test("nothing is connected to where a request may not go", async (t) => {
  const { log, url } = await counting(t);
  const transport = createToolTransport({
    policy: createAddressGuard({ network: "guarded", allowHosts: [] }),
    secrets: () => undefined,
  });
  t.after(() => transport.close());
  transport.warm?.(toolOf({ url }));
  await sleep(30);
  assert.deepEqual(log, []);
});

test("a server that is not there costs the request nothing but its own failure", async (t) => {
  const { server, url } = await counting(t);
  server.close();
  const transport = openTransport(t);
  transport.warm?.(toolOf({ url }));
  await sleep(20);
  await assert.rejects(transport.send(toolOf({ url }), {}, attempt, never), { kind: "unreachable" });
});

/** A transport whose connections come about only when the test says so. */
function slowTransport(t: TestContext) {
  const policy = createAddressGuard({ network: "open", allowHosts: [] });
  const connect = policy.connector();
  const held: (() => void)[] = [];
  const hosts: string[] = [];
  const slow = {
    ...policy,
    connector: (): buildConnector.connector => (target, callback) => {
      hosts.push(target.hostname);
      return connect(target, (...said) => void held.push(() => callback(...said)));
    },
  };
  const transport = createToolTransport({ policy: slow, secrets: () => undefined });
  t.after(() => transport.close());
  const release = async () => {
    while (held.length === 0) await sleep(1);
    for (const go of held.splice(0)) go();
  };
  return { transport, hosts, release };
}

test("a request waits for the connection that is being made, the next one makes its own", async (t) => {
  const { log, url } = await counting(t);
  const { transport, hosts, release } = slowTransport(t);
  transport.warm?.(toolOf({ url }));
  const first = transport.send(toolOf({ url }), {}, attempt, never);
  await sleep(5);
  assert.equal(hosts.length, 1);
  const second = transport.send(toolOf({ url }), {}, attempt, never);
  await sleep(30);
  await release();
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.equal(log.filter((event) => event === "connection").length, 2);
});

test("a request that leaves while it waits for a connection leaves nothing behind", async (t) => {
  const { url } = await counting(t);
  const { transport, hosts, release } = slowTransport(t);
  const stop = new AbortController();
  transport.warm?.(toolOf({ url }));
  const left = transport.send(toolOf({ url }), {}, attempt, stop.signal);
  await sleep(5);
  stop.abort();
  await assert.rejects(left, { kind: "cancelled" });
  await release();
  const next = transport.send(toolOf({ url }), {}, attempt, never);
  await sleep(5);
  await release();
  assert.equal((await next).status, 200);
  assert.equal(hosts.length, 2);
});

test("an origin that could not be reached is not tried again for a while", async (t) => {
  const { server, url } = await counting(t);
  server.close();
  const { transport, hosts, release } = slowTransport(t);
  for (let n = 0; n < 3; n++) {
    transport.warm?.(toolOf({ url }));
    if (n === 0) await release();
  }
  assert.equal(hosts.length, 1);
});

test("an address in brackets is connected to without them", async (t) => {
  const { transport, hosts } = slowTransport(t);
  transport.warm?.(toolOf({ url: "http://[::1]:1/" }));
  assert.deepEqual(hosts, ["::1"]);
});
