import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedCalls } from "../../../src/engine/calls/shared-calls.ts";
import { memoryCache } from "../../../src/stores/memory-cache.ts";
import { callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, play, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { fakeTarget } from "../../support/upstream.ts";

const CACHED = toolNamed("get_weather", { cache_ttl_s: 60 });

const newShared = () => new SharedCalls(memoryCache(1_000_000));

/** One run that makes one call. */
async function call(scene: Partial<Scene>, args = '{"city":"Oslo"}', name = "get_weather") {
  const target = fakeTarget([callStream({ id: "a", name, args }), textStream("Done.")]);
  const played = await play({ tools: [CACHED], ...scene, targets: [target] });
  const [answer] = answersIn(target.asked(1));
  return { ...played, answer, record: played.run.record.rounds[0]?.calls[0] };
}

test("a result is given again to the same call of a later run", async () => {
  const shared = newShared();
  const transport = fakeTransport(() => toolReply({ n: 1 }));
  await call({ shared, transport });
  const again = await call({ shared, transport, events: true }, '{ "city" : "Oslo" }');
  assert.equal(transport.sent.length, 1);
  assert.deepEqual([again.answer?.tool_call_id, again.answer?.data], ["a", { n: 1 }]);
  assert.equal(again.record?.outcome, "cached");
  assert.deepEqual(
    again.ending.summary.tools.map(({ ok, cached, attempts }) => [ok, cached, attempts]),
    [[true, true, 0]],
  );
  assert.match(again.text, /"type":"tool.cached"/);
  assert.doesNotMatch(again.text, /tool.started/);
});

for (const [name, change] of [
  ["other arguments", { args: '{"city":"Bergen"}' }],
  ["another user", { request: { user: "u2" } }],
  ["another caller", { caller: { name: "other", maxLevel: "admin", tools: ["*"] } }],
  ["another named session", { session: "s2" }],
  ["a request that wants no sharing", { mayShare: false }],
  [
    "another version",
    { tools: [toolNamed("get_weather", { cache_ttl_s: 61, description: "new" })], etag: true },
  ],
] as const) {
  test(`${name} makes a request of its own`, async () => {
    const shared = newShared();
    const transport = fakeTransport();
    const { args, ...scene } = { args: undefined, ...change } as { args?: string } & Partial<Scene>;
    const tools = scene.tools?.map((tool) => ({ ...tool, etag: '"2"' }));
    await call({ shared, transport });
    await call({ shared, transport, ...scene, ...(tools && { tools }) }, args);
    assert.equal(transport.sent.length, 2);
  });
}

test("with shared: true who asks makes no difference", async () => {
  const tools = [toolNamed("get_weather", { cache_ttl_s: 60, shared: true })];
  const shared = newShared();
  const transport = fakeTransport();
  await call({ shared, transport, tools });
  await call({ shared, transport, tools, request: { user: "u2" }, session: "s2" });
  assert.equal(transport.sent.length, 1);
});

test("a failure, an envelope that says so, and a cut answer are not kept", async () => {
  const replies = [
    toolReply({}, { status: 500 }),
    toolReply({ success: false, error: "no" }),
    toolReply("x", { truncated: true }),
    toolReply("good"),
  ];
  const shared = newShared();
  const transport = fakeTransport(() => replies.shift() ?? toolReply("again"));
  for (let n = 0; n < 5; n++) await call({ shared, transport });
  assert.equal(transport.sent.length, 4);
});

test("a write is never shared, whatever comes at the same time", async () => {
  const tools = [toolNamed("get_weather", { level: "write", confirm: "never" })];
  const shared = newShared();
  const transport = fakeTransport();
  await Promise.all(Array.from({ length: 5 }, () => call({ shared, transport, tools })));
  assert.equal(transport.sent.length, 5);
});

test("a hundred calls at the same time are one request, also without a cache", async () => {
  const tools = [toolNamed("get_weather")];
  const shared = newShared();
  let land = (): void => {};
  const landed = new Promise<void>((resolve) => {
    land = resolve;
  });
  const transport = fakeTransport(async () => {
    await landed;
    return toolReply({ n: 1 });
  });
  const all = Array.from({ length: 100 }, () => call({ shared, transport, tools }));
  setTimeout(land, 50);
  const played = await Promise.all(all);
  assert.equal(transport.sent.length, 1);
  assert.equal(played.filter(({ record }) => record?.shared).length, 99);
  for (const { answer } of played) assert.deepEqual(answer?.data, { n: 1 });
});

test("a failure is shared too", async () => {
  const tools = [toolNamed("get_weather", { retry: 0 })];
  const shared = newShared();
  const transport = fakeTransport(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return toolReply({}, { status: 500 });
  });
  const both = await Promise.all([call({ shared, transport, tools }), call({ shared, transport, tools })]);
  assert.equal(transport.sent.length, 1);
  assert.deepEqual(
    both.map(({ answer }) => answer?.success),
    [false, false],
  );
});

const waiting = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const asOutcome = (signal: AbortSignal) =>
  waiting(signal).catch(() => ({ errorKind: "cancelled" as const, attempts: 1, durationMs: 0 }));

test("who leaves takes nobody with them, the last one ends the request", async () => {
  const shared = newShared();
  const stops = [new AbortController(), new AbortController()];
  let ended = false;
  const request = async (signal: AbortSignal) => {
    const outcome = await asOutcome(signal);
    ended = true;
    return outcome;
  };
  const [first, second] = stops.map(({ signal }) => shared.ask("k", signal, request));
  stops[0]?.abort();
  assert.equal((await first)?.outcome.errorKind, "cancelled");
  assert.equal(ended, false);
  stops[1]?.abort();
  assert.equal((await second)?.outcome.errorKind, "cancelled");
  assert.equal(ended, true);
});

test("who comes when the last one has left makes a new request", async () => {
  const shared = newShared();
  const stop = new AbortController();
  const left = shared.ask("k", stop.signal, asOutcome);
  stop.abort();
  const fine = { attempts: 1, durationMs: 1 };
  const next = await shared.ask("k", new AbortController().signal, async () => fine);
  assert.deepEqual(next, { outcome: fine, isShared: false });
  await left;
});

test("the cache is bounded, and what was not used for longest makes room", async () => {
  const cache = memoryCache(10_000);
  const reply = (n: number) => toolReply("x".repeat(2_000) + n);
  for (let n = 0; n < 10; n++) {
    await cache.set(`${n}`, reply(n), 60_000);
    await cache.get("0");
  }
  const found = await Promise.all(Array.from({ length: 10 }, (_, n) => cache.get(`${n}`)));
  assert.equal(found.filter(Boolean).length, 3);
  assert.ok(found[0] && found[9]);
  await cache.set("huge", toolReply("x".repeat(20_000)), 60_000);
  assert.equal(await cache.get("huge"), undefined);
  assert.ok(await cache.get("9"));
});

test("two users never see each other's results in a thousand mixed calls", async () => {
  const shared = newShared();
  const transport = fakeTransport(({ attempt }) => toolReply({ user: attempt.user }));
  const runs = Array.from({ length: 1_000 }, async (_, n) => {
    const user = n % 2 === 0 ? "anna" : "bert";
    const { answer } = await call({ shared, transport, request: { user } }, `{"city":"${n % 7}"}`);
    assert.deepEqual(answer?.data, { user });
  });
  await Promise.all(runs);
  assert.ok(transport.sent.length < 100);
});
