import assert from "node:assert/strict";
import { after, afterEach, before, suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Stores } from "../../src/engine/ports/stores.ts";
import { openRedis } from "../../src/stores/redis/open-redis.ts";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { auditContract } from "./audit.contract.ts";
import { documentContract } from "./document.contract.ts";
import { ledgerContract, sampleEntry } from "./ledger.contract.ts";
import { keptTurnContract, sampleTool, storesContract, toolStoreContract } from "./store.contract.ts";

const skip = noRedis();

suite("redis", { skip }, () => {
  let server: RedisServer;
  let count = 0;
  const opened: Stores[] = [];
  const problems: string[] = [];

  before(async () => {
    server = await startRedis("--appendonly", "yes", "--maxmemory-policy", "noeviction");
  });
  afterEach(async () => {
    for (const stores of opened.splice(0)) await stores.close();
    problems.length = 0;
  });
  after(() => server.stop());

  const another = async (prefix: string, now?: () => number): Promise<Stores> => {
    const onProblem = (message: string) => void problems.push(message);
    const process = `p${count++}`;
    const stores = await openRedis(server.url, { process, onProblem, prefix, ...(now && { now }) });
    opened.push(stores);
    return stores;
  };
  const fresh = () => `test${++count}:`;
  const open = (clock: { ms: number }) => another(fresh(), () => clock.ms);

  toolStoreContract(open);
  keptTurnContract(open);
  documentContract(open);
  auditContract(open);
  ledgerContract(open);
  storesContract(open);
  sharedStateTests({ another, open, fresh });
  sharedNamesTests({ another, url: () => server.url, fresh });
});

interface Opening {
  another(prefix: string): Promise<Stores>;
  fresh(): string;
}

function sharedStateTests({
  another,
  open,
  fresh,
}: Opening & { open(clock: { ms: number }): Promise<Stores> }): void {
  test("two processes see the same, and the clock is the store's", async () => {
    const prefix = fresh();
    const [one, two] = [await another(prefix), await another(prefix)];
    await one.documents.put("session", "a", 1, { ttlMs: 80 });
    await one.keptTurns.keep("app", { clientCallIds: ["c"], assistant: {}, results: {} }, 80);
    const expiresAt = Date.now() + 80;
    await one.ledger.add(sampleEntry("e", { expiresAt }));
    assert.equal((await two.documents.get("session", "a"))?.value, 1);
    assert.ok(await two.keptTurns.find("app", "c"));
    assert.equal((await two.ledger.get("e"))?.state, "awaiting_approval");
    await delay(100);
    assert.equal(await two.documents.get("session", "a"), undefined);
    assert.equal(await two.keptTurns.find("app", "c"), undefined);
    assert.equal((await two.ledger.get("e"))?.state, "expired");
    assert.equal(
      await two.ledger.change("e", { from: ["awaiting_approval"] }, { state: "approved" }),
      undefined,
    );
  });

  test("a change of a tool is heard of by other processes within a second", async () => {
    const prefix = fresh();
    const [one, two] = [await another(prefix), await another(prefix)];
    const heard: number[] = [];
    two.tools.watch?.(() => heard.push(performance.now()));
    await delay(150);
    const from = performance.now();
    await one.tools.put(sampleTool("hello"));
    while (heard.length === 0 && performance.now() - from < 3_000) await delay(10);
    assert.ok((heard[0] ?? Number.POSITIVE_INFINITY) - from < 1_000);
  });

  test("what a living process carries out is left to it until its lease has ended", async () => {
    const clock = { ms: 1_000 };
    const { ledger } = await open(clock);
    const sent = { state: "executing", leaseOwner: "other", firstSentAt: 1_000 } as const;
    await ledger.add(sampleEntry("a", { ...sent, leaseUntil: 5_000 }));
    assert.deepEqual(await ledger.recover("me"), { unknown: [], open: [] });
    clock.ms = 5_000;
    assert.deepEqual(
      (await ledger.recover("me")).unknown.map(({ id }) => id),
      ["a"],
    );
  });
}

function sharedNamesTests({ another, url, fresh }: Opening & { url(): string }): void {
  test("of many processes that decide at once one does, and their counts are one", async () => {
    const prefix = fresh();
    const all = await Promise.all([1, 2, 3, 4].map(() => another(prefix)));
    const [first] = all;
    await first?.ledger.add(sampleEntry("a", { expiresAt: Date.now() + 60_000 }));
    const decide = (n: number) =>
      all[n % 4]?.ledger.change(
        "a",
        { from: ["awaiting_approval"] },
        { state: n % 3 ? "approved" : "denied" },
      );
    const won = (await Promise.all(Array.from({ length: 48 }, (_, n) => decide(n)))).filter(Boolean);
    assert.equal(won.length, 1);
    const counts = await Promise.all(
      Array.from({ length: 100 }, (_, n) => all[n % 4]?.rates.take("k", 60, 1)),
    );
    assert.deepEqual(
      counts.map((count) => count?.taken).toSorted((a = 0, b = 0) => a - b),
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
  });

  test("a cached answer is there for every process, byte for byte, and for its time", async () => {
    const prefix = fresh();
    const [one, two] = [await another(prefix), await another(prefix)];
    const body = Buffer.from([0, 255, 10, 13, 128]);
    const reply = {
      status: 200,
      headers: { a: "b" },
      contentType: "x/y",
      body,
      truncated: false,
      durationMs: 1,
    };
    await one.cache?.set("k", reply as never, 60);
    assert.deepEqual(await two.cache?.get("k"), reply);
    await delay(80);
    assert.equal(await two.cache?.get("k"), undefined);
  });

  test("scripts that Redis has forgotten are sent again", async () => {
    const stores = await another(fresh());
    await stores.documents.put("session", "a", 1, { ttlMs: 5_000 });
    const { Redis } = await import("ioredis");
    const client = new Redis(url());
    await client.script("FLUSH");
    client.disconnect();
    assert.equal((await stores.documents.get("session", "a"))?.value, 1);
  });

  test("no name that came from outside is in a key", async () => {
    const prefix = fresh();
    const stores = await another(prefix);
    const secret = "ann@example.com";
    await stores.documents.put("session", secret, 1, { ttlMs: 5_000 });
    await stores.keptTurns.keep(secret, { clientCallIds: [secret], assistant: {}, results: {} }, 5_000);
    await stores.ledger.add(
      sampleEntry("e", { caller: secret, runId: secret, expiresAt: Date.now() + 9_000 }),
    );
    await stores.cache?.set(secret, { status: 200, body: Buffer.alloc(1) } as never, 5_000);
    const { Redis } = await import("ioredis");
    const client = new Redis(url());
    const keys = await client.keys(`${prefix}*`);
    client.disconnect();
    assert.ok(keys.length > 5);
    assert.deepEqual(
      keys.filter((key) => key.includes("ann")),
      [],
    );
  });
}
