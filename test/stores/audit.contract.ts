import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEvent } from "../../src/engine/ports/audit.ts";
import type { OpenStores } from "./store.contract.ts";

const eventOf = (target: string): AuditEvent => ({
  action: "tool.changed",
  actor: 'é日本 "',
  target,
  request_id: null,
  details: { to: 2, note: null, etag: '"3"' },
});

/** What every audit log must do. */
export function auditContract(open: OpenStores): void {
  test("events are read as they were written, in order, with ids that go on and the time", async () => {
    const clock = { ms: 1_000 };
    const { audit } = await open(clock);
    assert.deepEqual(await audit.list({ limit: 10 }), []);
    for (const target of ["a", "b", "c"]) await audit.append(eventOf(target));
    const all = await audit.list({ limit: 10 });
    assert.deepEqual(
      all.map(({ id: _id, ...rest }) => rest),
      ["a", "b", "c"].map((target) => ({ at: 1_000, ...eventOf(target) })),
    );
    assert.equal(new Set(all.map(({ id }) => id)).size, 3);
  });

  test("a reader goes on after the last record that it has, page by page", async () => {
    const { audit } = await open({ ms: 1_000 });
    const targets = Array.from({ length: 25 }, (_, index) => `t${index}`);
    for (const target of targets) await audit.append(eventOf(target));
    const read: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await audit.list({ limit: 10, ...(after !== undefined && { after }) });
      if (page.length === 0) break;
      read.push(...page.map(({ target }) => target));
      after = page.at(-1)?.id;
    }
    assert.deepEqual(read, targets);
  });

  test("a time finds what was written at it and later", async () => {
    const clock = { ms: 1_000 };
    const { audit } = await open(clock);
    for (const ms of [1_000, 2_000, 3_000]) {
      clock.ms = ms;
      await audit.append(eventOf(String(ms)));
    }
    const from = async (time: number) => {
      const found = await audit.list({ from: time, limit: 10 });
      return found.map(({ target }) => target);
    };
    assert.deepEqual(await from(2_000), ["2000", "3000"]);
    assert.deepEqual(await from(2_001), ["3000"]);
    assert.deepEqual(await from(3_001), []);
  });
}
