import type { ChatChunk } from "../../src/core/protocol/wire.ts";
import type { Ending } from "../../src/engine/answer/answer.ts";
import { StreamAnswer, type StreamAnswerOptions } from "../../src/engine/answer/answer-stream.ts";
import { ReplyContent } from "../../src/engine/reply/reply-content.ts";
import { fakeSink } from "./sink.ts";

/** The summary of a run that went well. */
export const SUMMARY = {
  run_id: "run1",
  session_id: "s1",
  stop_reason: "completed",
  rounds: 1,
  tools: [],
  usage_by_round: [],
} as const;

/** How a run ends that went well, unless said differently. */
export const ending = (change: Partial<Ending> = {}): Ending => ({
  finish: "stop",
  summary: SUMMARY,
  usage: undefined,
  ...change,
});

/** A streamed answer; the names of the client's tools begin with `my_`. */
export function openAnswer(options: Partial<StreamAnswerOptions> = {}) {
  const sink = fakeSink();
  let shown = 0;
  const answer = new StreamAnswer(sink, {
    runId: "run1",
    sessionId: "s1",
    model: "gpt",
    choices: 1,
    events: false,
    strict: false,
    includeUsage: false,
    now: () => 7_000,
    onFirstToken: () => {
      shown++;
    },
    ...options,
  });
  /** Takes the chunks of one reply, as a run does. */
  const reply = (...chunks: ChatChunk[]) => {
    let ids = 0;
    answer.restart();
    const content = new ReplyContent({
      answer,
      owner: (name) => (name.startsWith("my_") ? "client" : "gateway"),
      keep: true,
      maxArgumentLength: 1_000,
      nextCallId: (id) => id ?? `made${++ids}`,
    });
    for (const one of chunks) content.take(content.read(one));
    return content.end();
  };
  return { sink, answer, reply, shown: () => shown };
}
