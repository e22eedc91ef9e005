import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenStores } from "./store.contract.ts";

/** What every document store must do. */
export function documentContract(open: OpenStores): void {
  const setup = async () => {
    const clock = { ms: 1_000 };
    return { clock, documents: (await open(clock)).documents };
  };

  test("a document is read as it was written, with its revision and its end", async () => {
    const { documents } = await setup();
    const value = { text: '日本 \u0000 "', list: [1, null, { a: true }] };
    const revision = await documents.put("session", "a", value, { ttlMs: 500 });
    assert.ok(revision !== undefined && revision > 0);
    assert.deepEqual(await documents.get("session", "a"), { value, revision, expiresAt: 1_500 });
  });

  test("kinds and keys do not mix", async () => {
    const { documents } = await setup();
    await documents.put("session", "a", 1, { ttlMs: 500 });
    assert.equal(await documents.get("result", "a"), undefined);
    assert.equal(await documents.get("session", "A"), undefined);
    assert.equal(await documents.delete("result", "a"), false);
    assert.equal((await documents.get("session", "a"))?.value, 1);
  });

  test("a document that has expired is gone, and its place is free", async () => {
    const { clock, documents } = await setup();
    const first = await documents.put("session", "a", 1, { ttlMs: 500 });
    clock.ms = 1_500;
    assert.equal(await documents.get("session", "a"), undefined);
    assert.equal(
      await documents.put("session", "a", 2, { ttlMs: 500, expectedRevision: first ?? 0 }),
      undefined,
    );
    assert.equal(await documents.delete("session", "a"), false);
    assert.ok(await documents.put("session", "a", 3, { ttlMs: 500, expectedRevision: 0 }));
  });

  test("only one of many who expect the same revision writes", async () => {
    const { documents } = await setup();
    const revision = await documents.put("session", "a", 0, { ttlMs: 500, expectedRevision: 0 });
    assert.equal(await documents.put("session", "a", 9, { ttlMs: 500, expectedRevision: 0 }), undefined);
    const writes = Array.from({ length: 10 }, (_, n) =>
      documents.put("session", "a", n + 1, { ttlMs: 500, expectedRevision: revision ?? 0 }),
    );
    const written = (await Promise.all(writes)).filter((result) => result !== undefined);
    assert.equal(written.length, 1);
    assert.equal((await documents.get("session", "a"))?.revision, written[0]);
  });

  test("no revision comes twice, also after a deletion", async () => {
    const { documents } = await setup();
    const first = await documents.put("session", "a", 1, { ttlMs: 500 });
    assert.equal(await documents.delete("session", "a", (first ?? 0) + 1), false);
    assert.equal(await documents.delete("session", "a", first ?? 0), true);
    const second = await documents.put("session", "a", 1, { ttlMs: 500 });
    assert.notEqual(second, first);
  });
}
