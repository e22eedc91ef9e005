import assert from "node:assert/strict";
import { test } from "node:test";
import { UpstreamHealth } from "../../../src/engine/reply/upstream-health.ts";
import { GatewayError } from "../../../src/errors.ts";
import { textStream } from "../../support/chunks.ts";
import { play } from "../../support/engine.ts";
import { type FakeTarget, fakeTarget, type ScriptedReply } from "../../support/upstream.ts";

const FAILS: ScriptedReply = { status: 500, body: '{"error":{"message":"down"}}' };

/** An upstream that answers every request alike, until the test says otherwise. */
function world(settings: { retry?: number; name?: string } = {}) {
  const clock = { ms: 1_000 };
  const opened: string[] = [];
  const upstreams = new UpstreamHealth(
    (name) => opened.push(name),
    () => clock.ms,
  );
  const reply: { now: ScriptedReply | string } = { now: FAILS };
  const main = fakeTarget(new Proxy([], { get: () => reply.now }), { name: "main", retry: 0, ...settings });
  const ask = (...others: FakeTarget[]) =>
    play({ targets: [main, ...others], upstreams }).then(
      () => undefined,
      (error: unknown) => error as GatewayError,
    );
  return { clock, opened, upstreams, reply, main, ask };
}

test("an upstream that keeps failing is not asked, probed once a second, and asked again when it is well", async () => {
  const { clock, opened, upstreams, reply, main, ask } = world();
  for (let n = 0; n < 20; n++) assert.equal((await ask())?.status, 500);
  assert.deepEqual([opened, upstreams.leftAlone], [["main"], ["main"]]);
  const refused = await ask();
  assert.deepEqual([refused?.status, refused?.code], [503, "upstream_unavailable"]);
  assert.match(String(refused?.options.headers?.["retry-after"]), /^[123]$/);
  assert.equal(main.requests.length, 20);
  clock.ms += 1_000;
  assert.deepEqual([(await ask())?.status, (await ask())?.status], [500, 503]);
  reply.now = textStream("Fine.");
  clock.ms += 1_000;
  assert.deepEqual([await ask(), await ask(), upstreams.leftAlone], [undefined, undefined, []]);
});

test("while an upstream is left alone its fallback answers at once", async () => {
  const { main, ask } = world({ retry: 2 });
  const good = Array.from({ length: 50 }, () => textStream("Fine."));
  const backup = fakeTarget(good, { name: "backup" });
  for (let n = 0; n < 20; n++) await ask(backup);
  const before = main.requests.length;
  for (let n = 0; n < 5; n++) assert.equal(await ask(backup), undefined);
  assert.equal(main.requests.length, before);
});

for (const [what, reply] of [
  ["a refused request", { status: 400, body: "{}" }],
  ["a rate limit", { status: 429, body: "{}" }],
  ["an answer that is wrong", { contentType: "text/html", body: "<html></html>" }],
  ["a stream that ends too early", { contentType: "text/event-stream", body: "data: {}\n\n" }],
] as const) {
  test(`${what} says nothing about the health of the upstream`, async () => {
    const { opened, reply: answer, main, ask } = world();
    answer.now = reply;
    for (let n = 0; n < 40; n++) assert.ok((await ask()) instanceof GatewayError);
    assert.deepEqual([opened, main.requests.length], [[], 40]);
  });
}

test("retries of an upstream are a fifth of its calls, and ten in any case", async () => {
  const { reply, main, ask } = world({ retry: 2 });
  const broken = new GatewayError("upstream_unavailable", "gone", { transient: true });
  let asked = 0;
  Object.defineProperty(reply, "now", {
    // Two of three are well, so that the breaker has no part in it.
    get: () => (asked++ % 3 === 0 ? { body: "", end: broken } : textStream("Fine.")),
  });
  await Promise.all(Array.from({ length: 100 }, () => ask()));
  assert.ok(main.requests.length > 105 && main.requests.length <= 120, `${main.requests.length}`);
});
