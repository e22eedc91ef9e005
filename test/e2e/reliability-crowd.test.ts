import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ask, readEvents, type Seen, stream } from "./support/client.ts";
import { type Gateway, registerTool } from "./support/gateway.ts";
import { OpenStream, settled } from "./support/open-stream.ts";
import { startProcess } from "./support/process.ts";
import type { Turn } from "./support/scripted-server.ts";
import { toolServer } from "./support/tool-server.ts";
import { chunk, frame, frames, scriptedUpstream, sse, streamed } from "./support/upstream.ts";

const STREAMS = 50;
const PIECES = 200;
const EVERY_MS = 20;
/** Longest silence of any of the streams. */
const GAP_MS = 500;

const DONE = streamed({ text: "Done." });

/** A call whose arguments come in one piece. */
function callOf(name: string, args: string): Turn {
  const call = { index: 0, id: "call_1", type: "function", function: { name, arguments: args } };
  return sse(chunk({ tool_calls: [call] }), chunk({}, "tool_calls"), frame("[DONE]"));
}

const NESTED = `{"x":${"[".repeat(100_000)}0${"]".repeat(100_000)}}`;
const LONG_NAME = JSON.stringify({ name: `${"a".repeat(100_000)}!` });
const SHORT_NAME = JSON.stringify({ name: `${"a".repeat(31)}!` });

/** Three tools that are dear to anyone who is careless, and the models that call them. */
async function startPoison(t: TestContext, gateway: Pick<Gateway, "url">) {
  const tools = await toolServer(t);
  const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, text: "x".repeat(85), list: [1, 2, 3] }));
  const large = JSON.stringify(rows);
  assert.ok(large.length > 10_000_000);
  tools.script("large", [{ body: [large] }]);
  const name = { type: "string", pattern: "^(a+)+$" };
  await registerTool(gateway, "nested", { url: tools.urlOf("nested"), parameters: { type: "object" } });
  await registerTool(gateway, "large", { url: tools.urlOf("large"), parameters: undefined });
  await registerTool(gateway, "pattern", {
    url: tools.urlOf("pattern"),
    parameters: { type: "object", properties: { name }, required: ["name"] },
  });
  return tools;
}

const POISON: readonly (readonly [model: string, turn: Turn])[] = [
  ["nested", callOf("nested", NESTED)],
  ["pattern-short", callOf("pattern", SHORT_NAME)],
  ["pattern-long", callOf("pattern", LONG_NAME)],
  ["large", callOf("large", "{}")],
  ["dribbled", streamed({ calls: [{ name: "nested", args: NESTED.slice(0, 20_000) }] })],
];

/** The longest silence between two reads of a stream. */
function longestGap({ pieces }: OpenStream): number {
  return Math.max(...pieces.map(({ at }, index) => at - (pieces[index - 1]?.at ?? at)));
}

test("fifty streams go on evenly beside requests made to be dear", async (t) => {
  const upstream = await scriptedUpstream(t);
  const gateway = await startProcess(t, { env: { TOOLWEIR_UPSTREAM_URL: upstream.baseUrl } });
  await gateway.ready();
  const tools = await startPoison(t, gateway);
  const words = Array.from({ length: PIECES }, (_, index) => [
    chunk({ content: `${index} ` }),
    EVERY_MS,
  ]).flat();
  upstream.script("crowd", [sse(...words, ...frames({}).slice(1))]);
  for (const [model, turn] of POISON) upstream.script(model, [turn, DONE]);

  const crowd = Array.from({ length: STREAMS }, () => new OpenStream(gateway, ask("crowd")));
  await Promise.all(crowd.map((client) => client.has("5 ")));
  const poisoned: Seen[] = [];
  for (const [model] of POISON) poisoned.push(await stream(gateway, ask(model)));
  for (const client of crowd) {
    const seen = readEvents(await client.end(30_000));
    assert.equal(seen.finish, "stop");
    assert.ok(seen.content.endsWith(`${PIECES - 1} `));
  }
  const gap = Math.max(...crowd.map(longestGap));
  t.diagnostic(`longest gap ${Math.round(gap)} ms`);
  assert.ok(gap < GAP_MS, `a stream stood still for ${gap} ms`);
  for (const { content, finish, error } of poisoned) {
    assert.deepEqual([content, finish, error], ["Done.", "stop", undefined]);
  }
  assert.deepEqual(
    tools.requests.map(({ url }) => url),
    ["/tool/large"],
    "only the call that was right is carried out",
  );
  await settled(gateway);
});
