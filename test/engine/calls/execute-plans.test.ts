import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { type CallPiece, callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, play, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { fakeTarget } from "../../support/upstream.ts";

const ANY = { parameters: { type: "object", additionalProperties: true } };
const call = (id: string, name: string, args: object): CallPiece => ({
  id,
  name,
  args: JSON.stringify(args),
});

/** Plays one message of calls; `failing` answers with 503. */
async function message(scene: Partial<Scene>, ...calls: CallPiece[]) {
  const target = fakeTarget([callStream(...calls), textStream("Done.")]);
  const transport = fakeTransport(({ tool }) =>
    toolReply({ v: 5, s: "a".repeat(100_000) }, { status: tool === "failing" ? 503 : 200 }),
  );
  const played = await play({ transport, ...scene, targets: [target] });
  const outcomes = played.run.record.rounds[0]?.calls.map(({ outcome }) => outcome);
  return { ...played, sent: transport.sent, outcomes, target };
}

test("a call that turns out to be the same as a later one is the one that runs, and what needs it gets its result", async () => {
  const tools = [toolNamed("x", ANY), toolNamed("y", ANY), toolNamed("z", { ...ANY, parallel_safe: true })];
  const { sent, target } = await message(
    { tools },
    call("0", "x", {}),
    call("1", "y", { p: "{{x.data.v}}" }),
    call("2", "z", { p: "{{y.data.v}}" }),
    call("3", "y", { p: 5 }),
  );
  assert.deepEqual(
    sent.map(({ tool }) => tool),
    ["x", "y", "z"],
  );
  assert.match(`${answersIn(target.asked(1))[3]?.error}`, /duplicate call ignored: it is the same as 1/);
});

const anyCalls = fc.array(
  fc.record({
    name: fc.constantFrom("one", "safe", "quick"),
    p: fc.oneof(fc.constant(5), fc.nat({ max: 2 }), fc.constant("ref")),
    to: fc.nat({ max: 20 }),
  }),
  { minLength: 1, maxLength: 7 },
);

test("whatever refers to whatever, every call is answered, the same call runs once, and what is needed was there", async () => {
  const tools = [
    toolNamed("one", ANY),
    toolNamed("safe", { ...ANY, parallel_safe: true }),
    toolNamed("quick", { ...ANY, parallel_safe: true }),
  ];
  await fc.assert(
    fc.asyncProperty(anyCalls, async (wanted) => {
      const calls = wanted.map(({ name, p, to }, at) => {
        const needed = wanted[to % Math.max(at, 1)]?.name ?? "";
        const index = wanted.slice(0, to % Math.max(at, 1)).filter((one) => one.name === needed).length;
        return call(`c${at}`, name, { p: p === "ref" && at > 0 ? `{{${needed}[${index}].data.v}}` : p });
      });
      const transport = fakeTransport(async ({ tool }) => {
        await sleep(tool === "safe" ? 1 : 0);
        return toolReply({ v: 5 });
      });
      const { target } = await message({ tools, transport, limits: { parallel_calls: 2 } }, ...calls);
      const answers = answersIn(target.asked(1));
      assert.deepEqual(
        answers.map(({ tool_call_id }) => tool_call_id),
        calls.map(({ id }) => id),
      );
      for (const { success, error } of answers) assert.ok(success || `${error}`.startsWith("duplicate"));
      const sent = transport.sent.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`);
      assert.equal(new Set(sent).size, sent.length);
    }),
    { numRuns: 150 },
  );
});

test("calls that need a failed one are no mistakes of the model: it keeps its tools", async () => {
  const tools = [toolNamed("failing", ANY), toolNamed("z", ANY)];
  const dependent = [1, 2, 3, 4].map((n) => call(`${n}`, "z", { n, p: "{{failing.data.v}}" }));
  const { ending } = await message({ tools }, call("0", "failing", {}), ...dependent);
  assert.equal(ending.summary.stop_reason, "completed");
});

test("a failing call with what needs it is a loop when it comes again and again", async () => {
  const tools = [toolNamed("failing", ANY), toolNamed("z", ANY)];
  const round = (n: number) =>
    callStream(call(`f${n}`, "failing", {}), call(`z${n}`, "z", { p: "{{failing.data.v}}" }));
  const transport = fakeTransport(() => toolReply({}, { status: 503 }));
  const target = fakeTarget([round(1), round(2), round(3), textStream("Done.")]);
  const { ending } = await play({ tools, transport, targets: [target] });
  assert.equal(ending.summary.stop_reason, "loop_guard");
});

test("what needs a call that waits for a person waits too, by way of a duplicate and beside a failed call", async () => {
  const write = toolNamed("w", { ...ANY, level: "write" });
  const tools = [write, toolNamed("failing", ANY), toolNamed("z", { ...ANY, partial_ok: true })];
  const { sent, run, text } = await message(
    { tools, events: true },
    call("0", "w", { p: 1 }),
    call("1", "w", { p: 1 }),
    call("2", "failing", {}),
    call("3", "z", { p: "{{w[1].data.v}}" }),
    call("4", "z", { p: "{{failing.data.v}}", q: "{{w.data.v}}" }),
  );
  assert.deepEqual(
    sent.map(({ tool }) => tool),
    ["failing"],
  );
  assert.equal(run.pending.length, 1);
  assert.equal(text.match(/waits for a person's approval/g)?.length, 2);
});

test("what is filled in is as long as arguments may be, however often it is referred to", async () => {
  const tools = [toolNamed("x", ANY), toolNamed("z", ANY)];
  const text = (times: number) => call("1", "z", { p: "{{x.data.s}}".repeat(times) });
  const { sent } = await message({ tools }, call("0", "x", {}), text(10));
  assert.equal(`${sent[1]?.args["p"]}`.length, 1_000_000);
  const { sent: once, target } = await message({ tools }, call("0", "x", {}), text(50_000));
  assert.equal(once.length, 1);
  assert.match(`${answersIn(target.asked(1))[1]?.error}`, /longer than 1048576 characters/);
});

test("in a dry run nothing is said of what only a result could tell", async () => {
  const tools = [toolNamed("x", ANY), toolNamed("z", ANY)];
  const { target } = await message(
    { tools, dryRun: true },
    call("0", "x", {}),
    call("1", "z", { p: "{{x.data.v}}" }),
  );
  assert.match(
    `${answersIn(target.asked(1))[1]?.error}`,
    /Not checked: .*"x", which a dry run does not bring/,
  );
});

test("a thought refers to nothing", async () => {
  const tools = [toolNamed("x", ANY), toolNamed("z", { thought: true })];
  const { sent } = await message(
    { tools },
    call("0", "x", {}),
    call("1", "z", { thought: "not {{z.data.v}}", city: "in {{x.data.v}}" }),
  );
  assert.deepEqual(sent[1]?.args, { city: "in 5" });
});

test("with partial_ok a failed call can be asked for its success and its error", async () => {
  const tools = [toolNamed("failing", ANY), toolNamed("z", { ...ANY, partial_ok: true })];
  const { sent } = await message(
    { tools },
    call("0", "failing", {}),
    call("1", "z", { ok: "{{failing.success}}", why: "{{failing.error}}", v: "{{failing.data.v}}" }),
  );
  const { ok, why, v } = sent[1]?.args ?? {};
  assert.deepEqual([ok, v], [false, null]);
  assert.match(`${why}`, /503/);
});

test("what a call with references brings along itself is judged before anything runs", async () => {
  const parameters = {
    type: "object",
    properties: { n: { type: "integer" }, p: {}, list: { type: "array", items: { type: "integer" } } },
  };
  const tools = [toolNamed("x", ANY), toolNamed("z", { parameters })];
  for (const args of [
    { n: "many", p: "{{x.data.v}}" },
    { list: [1, "{{x.data.v}}", "many"], p: 1 },
  ]) {
    const order: string[] = [];
    const transport = fakeTransport(() => {
      order.push("sent");
      return toolReply({ v: 5 });
    });
    const { target, run, text } = await message(
      { tools, transport, events: true },
      call("0", "x", {}),
      call("1", "z", args),
    );
    assert.match(`${answersIn(target.asked(1))[1]?.error}`, /must be an integer.*"many"/);
    assert.ok(text.indexOf("tool.rejected") < text.indexOf("tool.started"));
    assert.deepEqual(
      run.record.rounds[0]?.calls[1]?.gates.map(({ gate, pass }) => [gate, pass]),
      [["schema", false]],
    );
    assert.deepEqual(order, ["sent"]);
  }
  const { sent } = await message(
    { tools },
    call("0", "x", {}),
    call("1", "z", { n: "5", list: "{{x.data.v}}" }),
  );
  assert.deepEqual(sent[1]?.args, { n: 5, list: [5] });
});

test("what the client answers after the message cannot be referred to in it", async () => {
  const mine = { type: "function", function: { name: "mine", parameters: {} } } as const;
  const { text } = await message(
    { tools: [toolNamed("x", ANY)], request: { tools: [mine] }, events: true },
    call("0", "mine", {}),
    call("1", "x", { p: "{{mine.data.v}}" }),
  );
  assert.match(text, /the result of \\"mine\\" comes only after this message/);
});
