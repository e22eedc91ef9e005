import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type AnswerKey, Claim, KeptAnswers } from "../../../src/engine/answer/kept-answers.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";

const KEY: AnswerKey = { id: "k", fingerprint: "f", ttlMs: 60_000 };
const ANSWER = { status: 200, body: "{}" };

function setup(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const clock = { ms: 1_000 };
  const stores = openSqlite(":memory:", () => clock.ms);
  t.after(() => stores.close());
  return { clock, answers: new KeptAnswers(stores.documents, () => clock.ms) };
}

/** A claim that must be given. */
async function claimed(answers: KeptAnswers, runId: string, key = KEY): Promise<Claim> {
  const begun = await answers.begin(key, runId);
  assert.ok(begun instanceof Claim);
  return begun;
}

test("the first request answers, the next ones get that answer until it expires", async (t) => {
  const { clock, answers } = setup(t);
  const claim = await claimed(answers, "run_1");
  await assert.rejects(answers.begin(KEY, "run_2"), { code: "idempotency_in_progress" });
  await claim.finish(ANSWER);
  assert.deepEqual(await answers.begin(KEY, "run_3"), { runId: "run_1", answer: ANSWER });
  assert.deepEqual(await answers.find(KEY), { runId: "run_1", answer: ANSWER });
  clock.ms += 60_000;
  assert.equal(await answers.find(KEY), undefined);
  await claimed(answers, "run_4");
});

test("of twenty at once one answers", async (t) => {
  const { answers } = setup(t);
  const all = Array.from({ length: 20 }, (_, n) => answers.begin(KEY, `run_${n}`));
  const begun = await Promise.allSettled(all);
  assert.equal(begun.filter(({ status }) => status === "fulfilled").length, 1);
});

test("another body under the same key is refused, whatever became of the first", async (t) => {
  const { answers } = setup(t);
  const claim = await claimed(answers, "run_1");
  const other = { ...KEY, fingerprint: "g" };
  await assert.rejects(answers.begin(other, "run_2"), { code: "idempotency_key_reuse" });
  await claim.finish(ANSWER);
  await assert.rejects(answers.begin(other, "run_2"), { code: "idempotency_key_reuse" });
});

test("a request that left no answer and changed nothing may be answered anew", async (t) => {
  const { answers } = setup(t);
  await (await claimed(answers, "run_1")).finish(undefined);
  await claimed(answers, "run_2");
});

test("one that may have changed something may not", async (t) => {
  const { answers } = setup(t);
  const claim = await claimed(answers, "run_1");
  await claim.write();
  await claim.write();
  await claim.finish(undefined);
  const again = await answers.begin(KEY, "run_2");
  assert.ok("answer" in again);
  assert.equal(again.answer.status, 500);
  const { error } = JSON.parse(again.answer.body);
  assert.deepEqual([error.code, error.run_id], ["run_failed_after_write", "run_1"]);
});

test("a process that renews its claim keeps it, one that died loses it after 15 seconds", async (t) => {
  const { clock, answers } = setup(t);
  await claimed(answers, "run_1");
  for (let n = 0; n < 10; n++) {
    clock.ms += 5_000;
    t.mock.timers.tick(5_000);
    await new Promise(setImmediate);
  }
  await assert.rejects(answers.begin(KEY, "run_2"), { code: "idempotency_in_progress" });
  clock.ms += 15_001;
  await claimed(answers, "run_3");
});

test("what died after it had begun to change something is not repeated", async (t) => {
  const { clock, answers } = setup(t);
  await (await claimed(answers, "run_1")).write();
  await assert.rejects(answers.find(KEY), { code: "run_in_progress" });
  clock.ms += 15_001;
  const found = await answers.find(KEY);
  assert.equal(found?.answer.status, 500);
});

test("a claim that was taken over cannot write any more", async (t) => {
  const { clock, answers } = setup(t);
  const first = await claimed(answers, "run_1");
  clock.ms += 15_001;
  const second = await claimed(answers, "run_2");
  await assert.rejects(first.write(), { code: "idempotency_in_progress" });
  await first.finish(ANSWER);
  await second.finish({ status: 200, body: '{"second":true}' });
  assert.equal((await answers.find(KEY))?.runId, "run_2");
});

test("a run that is about to change something takes the key from whoever had it", async (t) => {
  const { answers } = setup(t);
  await (await answers.replace(KEY, "run_1")).finish(ANSWER);
  const claim = await answers.replace(KEY, "run_2");
  assert.equal(claim.wrote, true);
  await assert.rejects(answers.find(KEY), { code: "run_in_progress" });
  await claim.finish({ status: 200, body: '{"n":2}' });
  assert.equal((await answers.find(KEY))?.answer.body, '{"n":2}');
});
