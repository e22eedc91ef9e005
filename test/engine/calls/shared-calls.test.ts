import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedCalls, sharingKey } from "../../../src/engine/calls/shared-calls.ts";
import { runRounds } from "../../../src/engine/run.ts";
import { memoryCache } from "../../../src/stores/memory-cache.ts";
import { callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, play, type Scene, stage, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { fakeTarget } from "../../support/upstream.ts";

const CACHED = toolNamed("get_weather", { cache_ttl_s: 60 });

const newShared = () => new SharedCalls(memoryCache(1_000_000));

const asking = () =>
  fakeTarget([callStream({ id: "a", name: "get_weather", args: '{"city":"Oslo"}' }), textStream("Done.")]);

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
  const [first, second] = stops.map(({ signal }) => shared.ask("k", { signal, anew: false }, request));
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
  const left = shared.ask("k", { signal: stop.signal, anew: false }, asOutcome);
  stop.abort();
  const fine = { attempts: 1, durationMs: 1 };
  const staying = { signal: new AbortController().signal, anew: false };
  const next = await shared.ask("k", staying, async () => fine);
  assert.deepEqual(next, { outcome: fine, isShared: false, isToKeep: true });
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

/** A run that reads, writes and reads again. */
async function readWriteRead(scene: Partial<Scene>) {
  const read = (id: string) => callStream({ id, name: "get_weather", args: '{"city":"Oslo"}' });
  const write = callStream({ id: "w", name: "set_weather", args: '{"city":"Oslo"}' });
  const target = fakeTarget([read("a"), write, read("b"), textStream("Done.")]);
  const tools = [CACHED, toolNamed("set_weather", { level: "write", confirm: "never" })];
  await play({ tools, ...scene, targets: [target] });
  return answersIn(target.asked(3)).map(({ data }) => data);
}

test("after a write a run reads anew, and what it reads is kept", async () => {
  const shared = newShared();
  let stored = "rain";
  const transport = fakeTransport(({ tool }) => {
    if (tool === "set_weather") stored = "sun";
    return toolReply(stored);
  });
  await call({ shared, transport });
  assert.deepEqual(await readWriteRead({ shared, transport }), ["rain", "sun", "sun"]);
  assert.deepEqual((await call({ shared, transport })).answer?.data, "sun");
  assert.equal(transport.sent.length, 3);
});

test("after a write a run does not wait for a request that began before, which is not kept either", async () => {
  const shared = newShared();
  let land = (): void => {};
  const landed = new Promise<void>((resolve) => {
    land = resolve;
  });
  const slow = fakeTransport(async () => {
    await landed;
    return toolReply("rain");
  });
  const other = call({ shared, transport: slow });
  let reads = 0;
  const quick = fakeTransport(({ tool }) => toolReply(tool === "get_weather" ? `sun ${++reads}` : "set"));
  const write = callStream({ id: "w", name: "set_weather", args: '{"city":"Oslo"}' });
  const read = callStream({ id: "b", name: "get_weather", args: '{"city":"Oslo"}' });
  const target = fakeTarget([write, read, textStream("Done.")]);
  const tools = [CACHED, toolNamed("set_weather", { level: "write", confirm: "never" })];
  await play({ tools, shared, transport: quick, targets: [target] });
  assert.equal(answersIn(target.asked(2)).at(-1)?.data, "sun 1");
  land();
  assert.equal((await other).answer?.data, "rain");
  assert.equal((await call({ shared, transport: quick })).answer?.data, "sun 1");
});

test("who came along reads how often the tool was asked, and is counted with no attempts", async () => {
  const tools = [toolNamed("get_weather", { retry: 1, backoff_ms: 1 })];
  const shared = newShared();
  const transport = fakeTransport(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return toolReply({}, { status: 503 });
  });
  const both = await Promise.all([call({ shared, transport, tools }), call({ shared, transport, tools })]);
  for (const { answer } of both) assert.match(String(answer?.error), /503 after 2 attempts/);
  assert.deepEqual(
    both.map(({ ending }) => ending.summary.tools[0]?.attempts),
    [2, 0],
  );
});

test("a request whose first caller has left is tried again for the others, and the first hears nothing", async () => {
  const tools = [toolNamed("get_weather", { retry: 1, backoff_ms: 1 })];
  const shared = newShared();
  const gone = new AbortController();
  let tries = 0;
  const transport = fakeTransport(async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return ++tries === 1 ? toolReply({}, { status: 503 }) : toolReply("good");
  });
  const first = stage({ shared, transport, tools, signal: gone.signal, events: true, targets: [asking()] });
  const left = runRounds(first.run);
  const second = call({ shared, transport, tools });
  setTimeout(() => gone.abort(new Error("gone")), 10);
  await assert.rejects(left, /gone/);
  assert.equal((await second).answer?.data, "good");
  assert.doesNotMatch(first.sink.text, /tool.retry/);
});

test("keys are short, whatever the client calls its user", () => {
  const tool = toolNamed("get_weather");
  const key = sharingKey(tool, "k", { caller: "a", user: "u".repeat(100_000), session: undefined });
  assert.equal(key.length, 64);
});
