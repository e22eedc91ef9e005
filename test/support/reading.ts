import type { ToolSpec } from "../../src/core/protocol/wire.ts";
import { WholeAnswer } from "../../src/engine/answer/answer-whole.ts";
import { readReply } from "../../src/engine/reply/read-reply.ts";
import type { Reply, ReplyContext } from "../../src/engine/reply/reply-content.ts";
import { type Scene, stage, toolNamed } from "./engine.ts";
import type { FakeSink } from "./sink.ts";
import { type FakeTarget, fakeTarget, type ScriptedReply } from "./upstream.ts";

/** What became of one reply. */
export interface ReadOutcome {
  reply: Reply | undefined;
  error: Error | undefined;
  sink: FakeSink;
  target: FakeTarget;
  /** Everything the client got. */
  text: string;
}

/** How a reply is read in a test. */
export interface ReadOptions extends Partial<Scene> {
  /** Names of the client's own tools. */
  client?: readonly string[];
  signal?: AbortSignal;
  context?: Partial<ReplyContext>;
  /** An upstream that has answered before, and whose next scripted reply this is. */
  target?: FakeTarget;
}

const targetOf = (reply: ScriptedReply | string) => fakeTarget([reply], { secret: "sk-very-secret" });
const spec = (name: string): ToolSpec => ({ type: "function", function: { name } });

/**
 * Reads one scripted reply as a run with the gateway tools `get_weather` and `put` does (unless `tools` says otherwise), streamed
 * unless `request.stream` is false.
 */
export async function readOne(
  reply: ScriptedReply | string,
  options: ReadOptions = {},
): Promise<ReadOutcome> {
  const { client = [], context, signal, request, target = targetOf(reply), ...scene } = options;
  const { run, sink } = stage({
    tools: [toolNamed("get_weather"), toolNamed("put")],
    ...scene,
    targets: [target],
    request: { ...(client.length > 0 && { tools: client.map(spec) }), ...request },
  });
  const whole: ReplyContext = {
    answer: run.answer,
    owner: (name) => run.offer.owner(name),
    keep: run.offer.gateway.size > 0,
    maxArgumentLength: 100_000,
    nextCallId: (id) => run.nextCallId(id),
    ...context,
  };
  const asked = { body: "{}", stream: true, authorization: undefined, traceparent: "" };
  const outcome = await readReply(target, asked, whole, signal ?? sink.signal).then(
    (read) => ({ reply: read, error: undefined }),
    (error: Error) => ({ reply: undefined, error }),
  );
  if (!(run.answer instanceof WholeAnswer)) run.answer.flush();
  return { ...outcome, sink, target, text: sink.text };
}
