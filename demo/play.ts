import OpenAI from "openai";
import type { RunRecord } from "../src/engine/run-record.ts";
import { type ProgressEvent, RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";

type Chunk = OpenAI.ChatCompletionChunk & { toolweir?: ProgressEvent };

export interface PlayOptions {
  /** Base URL of the gateway, without `/v1`. */
  gateway: string;
  model: string;
  question: string;
  screen: Screen;
}

/** What the client's stream held. */
class Tally {
  chunks = 0;
  text = 0;
  calls = 0;
  progress = 0;
  finish = "";
  usage = "";

  take(chunk: Chunk): void {
    const [choice] = chunk.choices;
    this.chunks++;
    if (choice?.delta.content) this.text++;
    if (choice?.delta.tool_calls) this.calls++;
    if (chunk.toolweir?.type) this.progress++;
    if (choice?.finish_reason) this.finish = choice.finish_reason;
    if (chunk.usage) this.usage = `, ${chunk.usage.total_tokens} tokens`;
  }

  toString(): string {
    return (
      `finish_reason ${this.finish}${this.usage}. ${this.chunks} chunks: ` +
      `${this.text} with text, ${this.calls} with tool calls, ${this.progress} with progress`
    );
  }
}

/**
 * Asks the question through the gateway with the OpenAI SDK, streamed, and shows both sides of it. Returns the id of the run.
 * Throws what the SDK throws.
 */
export async function play({ gateway, model, question, screen }: PlayOptions): Promise<string> {
  const client = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: "unused", maxRetries: 0 });
  const startedAt = performance.now();
  const { data: stream, response } = await client.chat.completions
    .create(
      {
        model,
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: "user", content: question }],
      },
      { headers: { "x-toolweir-events": "1" } },
    )
    .withResponse();
  const runId = response.headers.get("x-toolweir-run-id") ?? "";
  const view = new RunView({
    screen,
    record: () => recordOf(gateway, runId),
    clock: () => (performance.now() - startedAt) / 1000,
  });
  screen.head("What the client sees", "What the gateway does");
  const tally = new Tally();
  try {
    for await (const chunk of stream as AsyncIterable<Chunk>) {
      tally.take(chunk);
      const text = chunk.choices[0]?.delta.content;
      if (text) await view.text(text);
      if (chunk.toolweir?.type) await view.event(chunk.toolweir);
    }
    screen.clientNote(String(tally));
    await view.end();
  } finally {
    screen.end();
  }
  return runId;
}

async function recordOf(gateway: string, runId: string): Promise<RunRecord> {
  const response = await fetch(`${gateway}/runs/${runId}`);
  if (!response.ok) throw new Error(`GET /runs/${runId}: ${response.status} ${await response.text()}`);
  return (await response.json()) as RunRecord;
}
