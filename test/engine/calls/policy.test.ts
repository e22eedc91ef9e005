import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolFailure } from "../../../src/engine/ports/tools.ts";
import type { RegisteredTool } from "../../../src/engine/registry/tool-snapshot.ts";
import { GatewayError } from "../../../src/errors.ts";
import { callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, type Scene, type Sent, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { perform } from "../../support/perform.ts";

const call = { id: "c1", name: "main", args: '{"city":"Oslo"}' };
const status = (code: number) => toolReply({ error: `said ${code}` }, { status: code });

/** One call of `main`, then text. `answers` are what tools answer, 200 for others; `Error`s are thrown. */
function once(
  tools: readonly RegisteredTool[],
  answers: Readonly<Record<string, number | Error>>,
  scene: Partial<Scene> = {},
) {
  const transport = fakeTransport(({ tool }: Sent) => {
    const answer = answers[tool];
    if (answer instanceof Error) throw answer;
    return answer === undefined ? toolReply(`of ${tool}`) : status(answer);
  });
  const play = perform([callStream(call), textStream("Done.")], {
    header: "main",
    tools,
    transport,
    ...scene,
  });
  return { play, transport };
}

const asked = ({ sent }: { sent: readonly Sent[] }) => sent.map(({ tool }) => tool);

test("the fallback is asked in the same call, with its own arguments and its own key", async () => {
  const place = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };
  const { play, transport } = once(
    [
      toolNamed("main", { fallback: { tool: "spare", arguments: { place: "{city}" } } }),
      toolNamed("spare", { parameters: place }),
    ],
    { main: 503 },
    { events: true },
  );
  const { target, ending, run, scope, text } = await play;
  const [told] = answersIn(target.asked(1));
  assert.deepEqual([told?.tool_name, told?.success, told?.data], ["main", true, "of spare"]);
  assert.equal(told?.note, '"main" failed; this is the answer of "spare" in its place.');
  assert.deepEqual(
    transport.sent.map(({ tool, args, attempt }) => [tool, { ...args }, attempt.idempotencyKey]),
    [
      ["main", { city: "Oslo" }, "run1:c1"],
      ["spare", { place: "Oslo" }, "run1:c1:spare"],
    ],
  );
  const [summary] = ending.summary.tools;
  assert.deepEqual([summary?.ok, summary?.fallback, summary?.attempts], [true, "spare", 2]);
  const [record] = run.record.rounds[0]?.calls ?? [];
  assert.deepEqual([record?.outcome, record?.error_kind], ["ok", "transient"]);
  const [policy] = record?.policy ?? [];
  assert.deepEqual([policy?.tool, policy?.class, policy?.action], ["main", "transient", "fallback"]);
  assert.deepEqual([policy?.fallback?.tool, policy?.fallback?.outcome], ["spare", "ok"]);
  assert.deepEqual(
    policy?.fallback?.gates.map(({ gate }) => gate),
    ["syntax", "schema", "rules", "context"],
  );
  assert.ok(text.includes('"fallback":"spare"'));
  const counted = scope.notes.filter(([name]) => name === "policy").map(([, note]) => note);
  assert.equal(counted.length, 1);
  const outcomes = scope.notes
    .filter(([name]) => name === "tool")
    .map(([, tool, end]) => [tool, (end as { outcome: string }).outcome]);
  assert.deepEqual(outcomes, [
    ["main", "error"],
    ["spare", "ok"],
  ]);
});

test("fallbacks of fallbacks are asked in turn, no tool twice, and the last answer counts", async () => {
  const tools = [
    toolNamed("main", { fallback: { tool: "second" } }),
    toolNamed("second", { fallback: { tool: "third" } }),
    toolNamed("third", { fallback: { tool: "main" } }),
  ];
  const { play, transport } = once(tools, { main: 503, second: 500, third: 500 });
  const { target, run } = await play;
  assert.deepEqual(asked(transport), ["main", "second", "third"]);
  const [told] = answersIn(target.asked(1));
  assert.equal(told?.success, false);
  assert.match(`${told?.error}`, /status 500: said 500/);
  assert.match(`${told?.note}`, /"third"/);
  const policy = run.record.rounds[0]?.calls[0]?.policy ?? [];
  assert.deepEqual(
    policy.map(({ tool, fallback }) => [tool, fallback?.outcome, fallback?.error_kind]),
    [
      ["main", "error", "transient"],
      ["second", "error", "transient"],
      ["third", "unavailable", "asked_before"],
    ],
  );
});

for (const [name, change, spare, answers, scene, why] of [
  ["that nobody registered", {}, undefined, { main: 503 }, {}, "not_registered"],
  [
    "that the key may not use",
    {},
    {},
    { main: 503 },
    { caller: { name: "app", maxLevel: "write", tools: ["main"] } },
    "not_permitted",
  ],
  ["that needs an approval", {}, { level: "write" }, { main: 503 }, {}, "approval"],
  [
    "that does not take the arguments",
    {},
    { parameters: { type: "object", properties: {} } },
    { main: 503 },
    {},
    "unexpected",
  ],
  [
    "after a write that may have run",
    { level: "write", confirm: "never" },
    {},
    { main: 503 },
    {},
    "may_have_run",
  ],
  [
    "after a write that timed out",
    { level: "write", confirm: "never" },
    {},
    { main: new ToolFailure("timeout", "slow") },
    {},
    "may_have_run",
  ],
] as [string, object, object | undefined, Record<string, number | Error>, Partial<Scene>, string][]) {
  test(`a fallback ${name} is not asked; the model is told of the failure`, async () => {
    const tools = [
      toolNamed("main", { fallback: { tool: "spare" }, ...change }),
      ...(spare ? [toolNamed("spare", spare)] : []),
    ];
    const { play, transport } = once(tools, answers, scene);
    const { target, run } = await play;
    assert.deepEqual(asked(transport), ["main"]);
    const [told] = answersIn(target.asked(1));
    assert.equal(told?.success, false);
    assert.match(`${told?.error}`, /503|timed out/);
    assert.equal(told?.note, undefined);
    assert.equal(run.record.rounds[0]?.calls[0]?.policy?.[0]?.fallback?.error_kind, why);
  });
}

test("a write that was not carried out for certain has its fallback", async () => {
  for (const failure of [new ToolFailure("unreachable", "refused"), 403]) {
    const tools = [
      toolNamed("main", { level: "write", confirm: "never", fallback: { tool: "spare" } }),
      toolNamed("spare"),
    ];
    const { play, transport } = once(tools, { main: failure });
    assert.equal(answersIn((await play).target.asked(1))[0]?.data, "of spare");
    assert.deepEqual(asked(transport), ["main", "spare"]);
  }
});

test("what is an answer is told, unless the policy says otherwise", async () => {
  const tools = (policy: object) => [
    toolNamed("main", { fallback: { tool: "spare" }, policy }),
    toolNamed("spare"),
  ];
  const told = once(tools({}), { main: 404 });
  assert.match(`${answersIn((await told.play).target.asked(1))[0]?.error}`, /404/);
  const asks = once(tools({ business: "fallback" }), { main: 404 });
  assert.equal(answersIn((await asks.play).target.asked(1))[0]?.data, "of spare");
});

const failed = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof GatewayError);
  assert.equal(error.code, "tool_failed");
  assert.equal(error.options.headers?.["x-should-retry"], "false");
  assert.match(error.message, message);
  return true;
};

test("fail ends the run, after what runs beside it and before what would follow", async () => {
  const tools = [
    toolNamed("main", { parallel_safe: true, policy: { timeout: "fail" } }),
    toolNamed("beside", { parallel_safe: true }),
    toolNamed("after"),
  ];
  const ended: string[] = [];
  const transport = fakeTransport(async ({ tool }) => {
    if (tool === "main") throw new ToolFailure("timeout", "slow");
    await new Promise((resolve) => setTimeout(resolve, 20));
    ended.push(tool);
    return toolReply(tool);
  });
  const calls = ["main", "beside", "after"].map((name) => ({ id: name, name, args: '{"city":"Oslo"}' }));
  await assert.rejects(
    perform([callStream(...calls), textStream("Done.")], { tools, transport }),
    failed(/^The tool "main" did not answer in time, and its policy ends the run on that\.$/),
  );
  assert.deepEqual(ended, ["beside"]);
});

test("fail for arguments ends the run before anything is sent", async () => {
  const tools = [toolNamed("main", { policy: { argument: "fail" } }), toolNamed("other")];
  const transport = fakeTransport();
  const calls = [
    { id: "c1", name: "other", args: '{"city":"Oslo"}' },
    { id: "c2", name: "main", args: '{"town":"Oslo"}' },
  ];
  await assert.rejects(
    perform([callStream(...calls), textStream("Done.")], { tools, transport }),
    failed(/arguments that it does not take/),
  );
  assert.deepEqual(asked(transport), []);
});

test("what waits for an approval is no error of the arguments", async () => {
  const { play } = once([toolNamed("main", { level: "write", policy: { argument: "fail" } })], {});
  assert.equal((await play).ending.summary.stop_reason, "approval_required");
});

const OLD = {
  parameters: {
    type: "object",
    properties: { city: { type: "string", deprecated: true }, place: { type: "string" } },
  },
};

test("a deprecated parameter is logged, told, or ends the run; the call runs unless it does", async () => {
  const logged = await once([toolNamed("main", OLD)], {}).play;
  const [plain] = answersIn(logged.target.asked(1));
  assert.deepEqual([plain?.data, plain?.note], ["of main", undefined]);
  assert.deepEqual(logged.run.record.rounds[0]?.calls[0]?.policy, [
    { tool: "main", class: "deprecated", action: "log", parameters: ["city"] },
  ]);
  assert.ok(logged.scope.notes.some(([name]) => name === "policy"));

  const told = await once(
    [toolNamed("main", { ...OLD, policy: { deprecated: "tell" } })],
    {},
    { locale: "zh" },
  ).play;
  const [noted] = answersIn(told.target.asked(1));
  assert.deepEqual([noted?.data, noted?.note], ["of main", '已弃用的参数，今后请勿使用："city"。']);

  const fails = once([toolNamed("main", { ...OLD, policy: { deprecated: "fail" } })], {});
  await assert.rejects(fails.play, failed(/deprecated parameter/));
  assert.deepEqual(asked(fails.transport), []);
});
