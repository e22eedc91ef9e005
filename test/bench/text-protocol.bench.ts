/** Nanoseconds a chunk of plain text costs: with native calls, and with text protocols active. Run it with node. */
import { textProtocol } from "../../src/core/protocol/text/text-protocol.ts";
import { chunk, finish, said } from "../support/chunks.ts";
import { readOne } from "../support/reading.ts";
import { fakeTarget, type ScriptedReply } from "../support/upstream.ts";

const CHUNKS = 20_000;
const ROUNDS = 12;
const WORDS =
  "The weather in Paris is mild today: 21 degrees, a light wind from the west and hardly a cloud.".split(
    /(?= )/,
  );

const event = (value: unknown) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);

/** The reply, some events to a read. */
function replyOf(perRead: number): ScriptedReply {
  const events = Array.from({ length: CHUNKS }, (_, index) =>
    event(said(WORDS[index % WORDS.length] as string)),
  );
  const reads = [event(chunk({ role: "assistant", content: "" }))];
  for (let at = 0; at < events.length; at += perRead)
    reads.push(Buffer.concat(events.slice(at, at + perRead)));
  return { body: [...reads, event(finish("stop")), Buffer.from("data: [DONE]\n\n")] };
}

async function measure(protocol: string, reply: ScriptedReply): Promise<number> {
  const adapter = textProtocol(protocol, "unknown");
  const tools = new Map([["get_weather", undefined]]);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const target = fakeTarget([reply]);
    const before = performance.now();
    const context = adapter ? { textAdapter: () => adapter(tools) } : {};
    await readOne("", { target, context });
    times.push(((performance.now() - before) * 1e6) / CHUNKS);
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 4)] as number;
}

for (const perRead of [1, 16]) {
  const reply = replyOf(perRead);
  const native = await measure("native", reply);
  for (const protocol of ["native", "hermes", "qwen3_coder", "bare_json", "react", "auto"]) {
    const time = await measure(protocol, reply);
    console.log(
      `${perRead} per read  ${protocol.padEnd(12)} ${time.toFixed(0)} ns  ${(time / native).toFixed(2)}x`,
    );
  }
}
