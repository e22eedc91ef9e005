import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallPiece, callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { perform } from "../../support/perform.ts";

const call = (id: string, name: string, city = id): CallPiece => ({
  id,
  name,
  args: JSON.stringify({ city }),
});
const LIMITED = { max_calls_per_run: 1 };

/** What became of every call of the rounds, in order: `ran`, `known` or what was wrong. */
async function outcomes(
  scene: Partial<Scene> & { transport?: ReturnType<typeof fakeTransport> },
  ...rounds: CallPiece[][]
) {
  const played = await perform([...rounds.map((calls) => callStream(...calls)), textStream("x")], scene);
  const told = answersIn(played.target.asked(rounds.length)).map(({ success, error, note = "" }) => {
    if (/at most 1 times/.test(`${error}`)) return "too many";
    if (/duplicate/.test(`${error}`)) return "duplicate";
    return /made before/.test(note) ? "known" : success ? "ok" : "failed";
  });
  return { told, sent: (scene.transport ?? played.transport).sent.map(({ tool }) => tool) };
}

test("a call that is answered without being run takes nothing off max_calls_per_run, and is never refused for it", async () => {
  const tools = [toolNamed("a", LIMITED), toolNamed("b")];
  const { told } = await outcomes(
    { tools },
    [call("1", "a", "x"), call("2", "a", "x"), call("3", "a", "y")],
    [call("4", "a", "x"), call("5", "a", "z")],
  );
  assert.deepEqual(told, ["ok", "duplicate", "too many", "known", "too many"]);
});

test("a call that its gates refused takes nothing off max_calls_per_run", async () => {
  const { told } = await outcomes({ tools: [toolNamed("a", LIMITED)] }, [
    { id: "1", name: "a", args: "{}" },
    call("2", "a"),
  ]);
  assert.deepEqual(told, ["failed", "ok"]);
});

test("of calls at the same time no more run than max_calls_per_run says, also when they wait for others", async () => {
  const output = { type: "object", properties: { city: { type: "string" } } };
  const tools = [
    toolNamed("find", { output, parallel_safe: true }),
    toolNamed("a", { ...LIMITED, parallel_safe: true }),
  ];
  const transport = fakeTransport(({ tool, args }) => toolReply(tool === "find" ? args : "rain"));
  const { told, sent } = await outcomes({ tools, transport }, [
    call("1", "find"),
    call("2", "find"),
    call("3", "a", "{{find.data.city}}"),
    call("4", "a", "{{find[1].data.city}}"),
  ]);
  assert.deepEqual(told.toSorted(), ["ok", "ok", "ok", "too many"]);
  assert.equal(sent.filter((tool) => tool === "a").length, 1);
});

test("a fallback counts as a call of its own tool, also when several ask it at the same time", async () => {
  const parallel = { parallel_safe: true };
  const tools = [
    toolNamed("main", { ...parallel, fallback: { tool: "spare" } }),
    toolNamed("spare", { ...parallel, ...LIMITED }),
  ];
  const transport = fakeTransport(({ tool }) =>
    tool === "main" ? toolReply({ error: "down" }, { status: 503 }) : toolReply("rain"),
  );
  const { told, sent } = await outcomes(
    { tools, transport },
    [call("1", "main"), call("2", "main")],
    [call("3", "spare")],
  );
  assert.deepEqual(told.toSorted(), ["failed", "ok", "too many"]);
  assert.equal(sent.filter((tool) => tool === "spare").length, 1);
});
