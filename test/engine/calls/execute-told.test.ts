import assert from "node:assert/strict";
import { test } from "node:test";
import { callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { perform, weather } from "../../support/perform.ts";
import { chunksOf } from "../../support/sink.ts";

const wrongName = { id: "n", name: "get_wether", args: "{}" };

test("in Chinese, the model is told of every call that was not run in Chinese", async () => {
  const scene: Partial<Scene> = { locale: "zh", limits: { tool_calls: 5, rounds: 2 } };
  const calls = [weather("1"), weather("2", "1"), wrongName, { id: "z", name: "zzzz", args: "{}" }];
  const { target } = await perform(
    [callStream(...calls), callStream(weather("4", "1")), textStream("x")],
    scene,
  );
  const [first, ...others] = answersIn(target.asked(2));
  assert.equal(first?.data, "rain");
  for (const { error, note } of others) assert.match(`${error ?? note}`, /\p{Script=Han}/u);
  assert.match(`${others[1]?.error}`, /get_wether.*get_weather/);
  const { target: limited } = await perform([callStream(weather("1"), weather("2")), textStream("x")], {
    locale: "zh",
    limits: { tool_calls: 1 },
  });
  const [ran, refused] = answersIn(limited.asked(1));
  assert.equal(ran?.success, true);
  assert.match(`${refused?.error}`, /上限/);
  assert.match(`${refused?.note}`, /不能再调用工具/);
});

test("an unknown name is answered with the nearest one, or with the names there are", async () => {
  const told = async (tools: string[]) => {
    const { target } = await perform([callStream(wrongName), textStream("x")], {
      tools: tools.map((name) => toolNamed(name)),
    });
    return `${answersIn(target.asked(1))[0]?.error}`;
  };
  assert.match(
    await told(["get_weather", "put"]),
    /no tool named "get_wether"\. Did you mean "get_weather"\?/,
  );
  assert.match(await told(["put", "ask_map"]), /The tools are: "ask_map", "put"\./);
  const many = Array.from({ length: 30 }, (_, place) => `x${place}`);
  assert.equal((await told(many)).split('"x').length - 1, 20);
});

test("a tool that is tried again says so, and the summary counts its attempts", async () => {
  let tries = 0;
  const transport = fakeTransport(() => toolReply("rain", { status: ++tries < 3 ? 503 : 200 }));
  const tools = [toolNamed("get_weather", { retry: 2, backoff_ms: 1 })];
  const { text, ending, run } = await perform([callStream(weather("1")), textStream("x")], {
    tools,
    transport,
    events: true,
  });
  const events = chunksOf(text).flatMap(({ toolweir }) =>
    toolweir?.["type"] === "tool.retry" ? [toolweir] : [],
  );
  assert.deepEqual(
    events.map(({ call_id, attempt, error_kind }) => [call_id, attempt, error_kind]),
    [
      ["1", 2, "transient"],
      ["1", 3, "transient"],
    ],
  );
  assert.deepEqual(
    ending.summary.tools.map(({ ok, attempts }) => [ok, attempts]),
    [[true, 3]],
  );
  assert.deepEqual(
    run.record.rounds[0]?.calls.map(({ outcome, attempts }) => [outcome, attempts]),
    [["ok", 3]],
  );
});

test("the record of a run has every call with what each gate said of it", async () => {
  const calls = [
    weather("1"),
    { id: "2", name: "get_weather", args: '{"town":1}' },
    wrongName,
    weather("4", "1"),
  ];
  const { run, scope } = await perform([callStream(...calls), textStream("x")]);
  const seen = run.record.rounds[0]?.calls.map(({ owner, outcome, error_kind, gates }) => [
    owner,
    outcome,
    error_kind,
    gates.length,
  ]);
  assert.deepEqual(seen, [
    ["gateway", "ok", undefined, 4],
    ["gateway", "rejected", "missing", 2],
    ["unknown", "rejected", "unknown_tool", 0],
    ["gateway", "duplicate", undefined, 4],
  ]);
  assert.deepEqual(
    run.record.rounds.map(({ upstream, finish_reason }) => [upstream, finish_reason]),
    [
      ["main", "tool_calls"],
      ["main", "stop"],
    ],
  );
  const counted = scope.notes
    .filter(([name]) => name === "tool" || name === "refused")
    .map(([name, tool]) => `${name} ${tool}`);
  assert.deepEqual(counted.sort(), ["refused get_weather", "refused get_wether", "tool get_weather"]);
});
