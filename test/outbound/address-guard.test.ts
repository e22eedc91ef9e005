import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { existsSync, readFileSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import { test } from "node:test";
import type { buildConnector } from "undici";
import { createAddressGuard } from "../../src/outbound/address-guard.ts";
import { serveTcp } from "./tool-fixture.ts";

const guarded = (...allowHosts: string[]) => createAddressGuard({ network: "guarded", allowHosts });
const open = createAddressGuard({ network: "open", allowHosts: [] });

/** A lookup that answers every name with these addresses. */
function answering(...addresses: string[]): LookupFunction {
  const found: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, callback) => callback(null, found);
}

/** The error of one connection attempt, `undefined` when it came about. */
async function connectError(connector: buildConnector.connector, url: string): Promise<Error | undefined> {
  const { hostname, protocol, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  connector({ hostname, protocol, port }, (error, socket) => {
    socket?.destroy();
    resolve(error ?? undefined);
  });
  return await promise;
}

for (const url of [
  "http://127.0.0.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://[::ffff:127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[::7f00:1]/",
  "https://10.1.2.3/",
  "https://localhost./",
  "https://db.internal/",
  "https://redis/",
  "https://0.0.0.0/",
  "https://224.0.0.1/",
  "https://169.254.169.254/",
  "https://[fd00:ec2::254]/",
  "https://metadata.google.internal/",
  "https://user@api.example.com/",
  "http://api.example.com/",
  "https://api.example.com:22/",
  "ftp://api.example.com/",
  " https://api.example.com/",
  "https://api.example.com\\@127.0.0.1/",
  "not a url",
]) {
  test(`guarded refuses ${url}`, () => assert.equal(typeof guarded().allowUrl(url), "string"));
}

test("guarded lets public https through", () => {
  for (const url of ["https://api.example.com/a?b", "https://api.example.com:8443/", "https://1.1.1.1/"]) {
    assert.equal(guarded().allowUrl(new URL(url)), undefined);
  }
});

test("open lets everything through but metadata services and what is no web address", () => {
  for (const url of ["http://127.0.0.1:9000/", "http://redis:6379/", "http://10.0.0.1/"]) {
    assert.equal(open.allowUrl(url), undefined);
  }
  for (const url of [
    "http://169.254.169.254/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://metadata/",
    "file:///etc/passwd",
  ]) {
    assert.equal(typeof open.allowUrl(url), "string");
  }
});

test("allow_hosts takes host, host:port and scheme://host:port", () => {
  for (const [entry, allowed, refused] of [
    ["redis", "http://redis:6379/", "http://redis2:6379/"],
    ["localhost:9000", "http://LOCALHOST.:9000/", "http://localhost:9001/"],
    ["http://127.0.0.1:9000", "http://[::ffff:7f00:1]:9000/", "https://127.0.0.1:9000/"],
    ["http://api.example.com", "http://api.example.com/", "http://api.example.com:81/"],
    ["::1", "http://[::1]:9000/", "http://[::2]:9000/"],
    ["[fd12::1]:80", "http://[fd12:0::1]/", "http://[fd12::1]:81/"],
  ] as const) {
    assert.equal(guarded(entry).allowUrl(allowed), undefined, entry);
    assert.equal(typeof guarded(entry).allowUrl(refused), "string", entry);
  }
  assert.throws(() => guarded("http://a b/"), TypeError);
  assert.equal(typeof guarded("169.254.169.254").allowUrl("http://169.254.169.254/"), "string");
});

test("a refusal names the line that would allow it", () => {
  assert.match(
    guarded().allowUrl("http://[::1]:9000/") ?? "",
    /"http:\/\/\[::1\]:9000" to tools\.allow_hosts/,
  );
  assert.doesNotMatch(guarded().allowUrl("http://169.254.169.254/") ?? "", /allow_hosts/);
});

test("every resolved address must be public, on each connection", async () => {
  for (const answer of [
    ["127.0.0.1"],
    ["93.184.216.34", "10.0.0.5"],
    ["::ffff:10.0.0.5"],
    ["fd00:ec2::254"],
  ]) {
    const guard = createAddressGuard({ network: "guarded", allowHosts: [], lookup: answering(...answer) });
    const error = await connectError(guard.connector(), "https://api.example.com/");
    assert.deepEqual([error?.name, error && "refused" in error && error.refused], ["ConnectError", true]);
  }
});

test("addresses are judged without a lookup", async () => {
  for (const url of ["https://127.0.0.1/", "https://[::1]/", "https://localhost/"]) {
    const error = await connectError(guarded().connector(), url);
    assert.ok(error && "refused" in error && error.refused, url);
  }
});

test("a listed name may resolve to a private address, but never to a metadata service", async (t) => {
  const { port } = new URL(await serveTcp(t, () => {}));
  const url = `http://tool.example.com:${port}/`;
  for (const [address, refused] of [
    ["127.0.0.1", false],
    ["169.254.169.254", true],
  ] as const) {
    const guard = createAddressGuard({ network: "guarded", allowHosts: [url], lookup: answering(address) });
    const error = await connectError(guard.connector(), url);
    assert.equal(error !== undefined, refused);
  }
});

interface Row {
  id: string;
  url: string;
  class: string;
  production: string;
  development: string;
  stage: string;
  dns?: string[][];
}

const LIST = new URL("../../../shared/faults/ssrf.jsonl", import.meta.url);

test("the list of forbidden targets", {
  skip: !existsSync(LIST) && "the shared list is absent",
}, async (t) => {
  const rows = readFileSync(LIST, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  // Redirects are not followed and the gateway's own address is known by its hop count: neither is judged here.
  const judged = rows.filter((row) => row.stage !== "response" && row.class !== "self");
  const verdict = async (row: Row, network: "guarded" | "open") => {
    const guard = createAddressGuard({ network, allowHosts: [], lookup: answering(...(row.dns?.[0] ?? [])) });
    if (guard.allowUrl(row.url)) return "refuse";
    if (row.stage !== "connect") return "allow";
    const error = await connectError(guard.connector(), row.url);
    return error && "refused" in error && error.refused ? "refuse" : "allow";
  };
  const production: string[] = [];
  const tooOpen: string[] = [];
  for (const row of judged) {
    if ((await verdict(row, "guarded")) !== row.production) production.push(row.id);
    // `open` may be more open than the list, never less.
    if (row.development === "allow" && (await verdict(row, "open")) === "refuse") tooOpen.push(row.id);
  }
  t.diagnostic(`${judged.length} of ${rows.length} rows judged`);
  assert.deepEqual([production, tooOpen], [[], []]);
});
