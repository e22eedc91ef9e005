import assert from "node:assert/strict";
import { test } from "node:test";
import { callChunk, chunk, event, finish, said, stream, textStream } from "../../support/chunks.ts";
import { toolNamed } from "../../support/engine.ts";
import { ASK, perform, weather } from "../../support/perform.ts";
import { chunksOf, readStream } from "../../support/sink.ts";
import type { ScriptedReply } from "../../support/upstream.ts";

const TRIP = toolNamed("plan_trip", {
  parameters: {
    type: "object",
    properties: {
      days: { type: "integer" },
      stops: { type: "array", items: { $ref: "#/$defs/stop" } },
      note: { type: "string" },
    },
    required: ["days"],
    $defs: { stop: { type: "object", properties: { nights: { type: "integer" } } } },
  },
});
const scene = { tools: [TRIP, toolNamed("get_weather")], cancelEarly: true };
const PROBLEM =
  'Parameter "days" must be an integer, but you sent the string "few". Correct it and call again.';

/** A stream that says these pieces of calls and then hangs. */
const hanging = (...chunks: unknown[]): ScriptedReply => ({ body: chunks.map(event), end: "hang" });
const piece = (args: string, more: object = {}) => callChunk({ index: 0, args, ...more });
const open = (args: string) => piece(args, { id: "t1", name: "plan_trip" });

const toolMessages = (body: Record<string, unknown>) =>
  (body["messages"] as { role: string; tool_call_id: string; content: string }[])
    .filter(({ role }) => role === "tool")
    .map(({ tool_call_id, content }) => [tool_call_id, (JSON.parse(content) as { error: string }).error]);

test("a hopeless call stops its reply, and the model is told at once", async () => {
  const { target, sink, transport, run, stop } = await perform(
    [hanging(said("Let me plan."), open('{"da'), piece('ys":"few","no')), textStream("Sorry.")],
    scene,
  );
  assert.deepEqual([target.requests.length, target.aborted, transport.sent.length], [2, 1, 0]);
  const messages = target.asked(1)["messages"] as { role: string; tool_calls?: unknown[] }[];
  assert.deepEqual(messages.at(-2), {
    role: "assistant",
    content: "Let me plan.",
    tool_calls: [
      {
        id: "t1",
        type: "function",
        function: { name: "plan_trip", arguments: '{"unparsed_arguments":"{\\"days\\":\\"few\\",\\"no"}' },
      },
    ],
  });
  assert.deepEqual(toolMessages(target.asked(1)), [["t1", PROBLEM]]);
  assert.deepEqual([readStream(sink.text).content, stop], ["Let me plan.Sorry.", "completed"]);
  const [first] = run.record.rounds;
  assert.equal(first?.finish_reason, "stopped");
  const [call] = first?.calls ?? [];
  assert.deepEqual(call?.hopeless, { path: "days", problem: "type", feedback: PROBLEM, after: 17 });
  assert.deepEqual(
    [call?.outcome, call?.error_kind, call?.gates],
    [
      "rejected",
      "type",
      [
        {
          gate: "schema",
          pass: false,
          code: "arguments_invalid",
          path: "/days",
          problem: "type",
          feedback: PROBLEM,
        },
      ],
    ],
  );
});

test("a value deep inside is seen before its parameter is complete", async () => {
  const { target } = await perform(
    [hanging(open('{"days":2,"stops":[{"nights":1},{"nights":"many"')), textStream("Sorry.")],
    scene,
  );
  assert.match(String(toolMessages(target.asked(1))[0]?.[1]), /"stops\[1\]\.nights" must be an integer/);
});

test("of a stopped reply nothing runs, and each call has its message", async () => {
  const { target, transport } = await perform(
    [
      hanging(
        callChunk({ index: 1, ...weather("w1", "Rome") }),
        callChunk({ index: 2, id: "w2", name: "get_weather", args: '{"ci' }),
        open('{"days":"few"'),
      ),
      textStream("Sorry."),
    ],
    scene,
  );
  assert.equal(transport.sent.length, 0);
  const told = toolMessages(target.asked(1));
  assert.deepEqual(
    told.map(([id]) => id),
    ["w1", "w2", "t1"],
  );
  assert.match(String(told[0]?.[1]), /was not run: the reply was stopped/);
  assert.equal(told[0]?.[1], told[1]?.[1]);
  assert.equal(told[2]?.[1], PROBLEM);
});

test("without cancel_early the reply is read to its end, and the calls beside it run", async () => {
  const reply = stream(
    open('{"days":"few"'),
    piece(',"note":"x"}'),
    callChunk({ index: 1, ...weather("w1", "Rome") }),
    finish("tool_calls"),
  );
  const { target, transport, run, sink } = await perform([reply, textStream("Sorry.")], {
    ...scene,
    cancelEarly: false,
    events: true,
  });
  assert.deepEqual(
    transport.sent.map(({ tool }) => tool),
    ["get_weather"],
  );
  assert.deepEqual(toolMessages(target.asked(1))[0], ["t1", PROBLEM]);
  assert.equal(run.record.rounds[0]?.calls[0]?.hopeless?.after, 13);
  const progress = chunksOf(sink.text).map(({ toolweir }) => toolweir ?? {});
  const args = progress.filter(({ type }) => type === "tool.args");
  assert.deepEqual(
    args.map(({ path, problem, message }) => [path, problem, message]),
    [
      ["days", "type", PROBLEM],
      ["note", undefined, undefined],
      ["city", undefined, undefined],
    ],
  );
});

test("a reply with a call of the client is not stopped, since the client has seen it come", async () => {
  const reply = stream(
    callChunk({ index: 1, id: "u1", name: "ask", args: '{"q":' }),
    open('{"days":"few"}'),
    callChunk({ index: 1, args: "1}" }),
    finish("tool_calls"),
  );
  const { target, ending, sink } = await perform([reply], { ...scene, request: { tools: [ASK] } });
  assert.deepEqual([target.requests.length, ending.finish], [1, "tool_calls"]);
  assert.deepEqual(readStream(sink.text).calls, [{ id: "u1", name: "ask", arguments: '{"q":1}' }]);
});

test("what repair, coercion or a normaliser can still put right stops nothing", async () => {
  const normalised = toolNamed("plan_trip", {
    parameters: TRIP.definition.parameters,
    normalize: { days: ["chinese_number"], "stops[].nights": [{ map: { one: 1 } }] },
  });
  for (const args of [
    '{"days":"2"',
    '{"days":"三"',
    '{"days":2,"stops":[{"nights":"one"}]',
    '{"days":2,"note":null',
  ]) {
    const reply = stream(open(args.slice(0, 5)), piece(args.slice(5)), piece(",}"), finish("tool_calls"));
    const { transport, run } = await perform([reply, textStream("Done.")], {
      tools: [normalised],
      cancelEarly: true,
    });
    assert.equal(run.record.rounds[0]?.finish_reason, "tool_calls", args);
    assert.equal(transport.sent.length, 1, args);
  }
});

test("pieces that may be snapshots of the whole text are not judged before they are told from others", async () => {
  const reply = stream(open('{"days":'), piece('{"days":2'), piece('{"days":2}'), finish("tool_calls"));
  const { transport } = await perform([reply, textStream("Done.")], scene);
  assert.deepEqual(transport.sent[0]?.args, { days: 2 });
});

test("the same mistake ends in the last round, as it does with whole replies", async () => {
  const wrong = () => hanging(open('{"days":"few"'));
  const { target, stop } = await perform([wrong(), wrong(), wrong(), textStream("I give up.")], scene);
  assert.deepEqual([target.requests.length, stop], [4, "loop_guard"]);
});

test("in the last round, and with a finish reason beside it, no reply is stopped", async () => {
  const last = stream(said("So far."), open('{"days":"few"}'), finish("tool_calls"));
  const { target, sink, stop } = await perform([last, last], { ...scene, limits: { rounds: 1 } });
  assert.deepEqual([target.aborted, stop], [1, "max_rounds"]);
  assert.equal(readStream(sink.text).content, "So far.So far.");
  const whole = chunk(
    {
      tool_calls: [
        {
          index: 0,
          id: "t1",
          type: "function",
          function: { name: "plan_trip", arguments: '{"days":"few"}' },
        },
      ],
    },
    { finish_reason: "tool_calls" },
  );
  const { target: second } = await perform([stream(whole), textStream("Sorry.")], scene);
  assert.equal(second.aborted, 0);
});
