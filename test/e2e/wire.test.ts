import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, type Seen, stream } from "./support/client.ts";
import { sse, streamed } from "./support/upstream.ts";
import { ANSWERS, ASKS, clientTool, startWorld, usage, type World } from "./support/world.ts";

/** A run of two rounds, the second of which comes from an upstream that calls itself something else. */
function twoRounds(world: World, members = {}, headers: Record<string, string> = {}): Promise<Seen> {
  const other = streamed(ANSWERS).body?.map((piece) => String(piece).replaceAll("chatcmpl-up", "other-id"));
  world.upstream.script("alias", [streamed(ASKS), sse(...(other ?? []))]);
  return stream(world.gateway, ask("alias", members), headers);
}

test("a run of two rounds is one completion", async (t) => {
  const seen = await twoRounds(await startWorld(t));
  const { chunks } = seen;
  assert.equal(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size, 1, "one id, one time");
  assert.deepEqual(new Set(chunks.map(({ model }) => model)), new Set(["alias"]));
  assert.deepEqual(new Set(chunks.map(({ object }) => object)), new Set(["chat.completion.chunk"]));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  assert.equal(choices.filter(({ delta }) => "role" in delta).length, 1);
  assert.equal(choices[0]?.delta["role"], "assistant", "the role comes first");
  assert.deepEqual(
    choices.flatMap(({ finish_reason }) => finish_reason ?? []),
    ["stop"],
  );
  assert.equal(choices.at(-1)?.finish_reason, "stop", "the finish comes last");
  assert.equal(seen.content, "Let me look. It is sunny.");
  assert.deepEqual(seen.calls, []);
  assert.doesNotMatch(seen.text, /tool_calls|"place"/);
});

test("the head of a streamed answer forbids caching, buffering and compression, and names run and session", async (t) => {
  const world = await startWorld(t);
  const { headers } = await twoRounds(
    world,
    {},
    { "accept-encoding": "gzip, br", "x-toolweir-session": "s-1" },
  );
  assert.match(headers.get("cache-control") ?? "", /no-cache/);
  assert.equal(headers.get("x-accel-buffering"), "no");
  assert.equal(headers.get("content-encoding"), null);
  assert.match(headers.get("x-toolweir-run-id") ?? "", /^run_\w+$/);
  assert.equal(headers.get("x-toolweir-session"), "s-1");
  assert.ok(headers.get("x-request-id"));
});

test("the toolweir member is on the first chunk and, as a summary, on the finish chunk only", async (t) => {
  const seen = await twoRounds(await startWorld(t));
  const run_id = seen.headers.get("x-toolweir-run-id");
  const session_id = seen.headers.get("x-toolweir-session");
  assert.deepEqual(seen.chunks[0]?.toolweir, { run_id, session_id });
  const carrying = seen.chunks.flatMap((chunk, at) => (chunk.toolweir ? [at] : []));
  const finish = seen.chunks.findIndex(({ choices }) => choices[0]?.finish_reason);
  assert.deepEqual(carrying, [0, finish]);
  const { tools, ...summary } = seen.summary as { tools: Record<string, unknown>[] };
  assert.deepEqual(summary, {
    run_id,
    session_id,
    stop_reason: "completed",
    rounds: 2,
    usage_by_round: [usage(10), usage(1)],
  });
  const { duration_ms, ...tool } = tools[0] ?? {};
  assert.equal(typeof duration_ms, "number");
  assert.deepEqual(tool, {
    call_id: "call_get_weather_0",
    name: "get_weather",
    ok: true,
    cached: false,
    attempts: 1,
  });
});

test("x-toolweir-compat: strict, and the setting, leave the toolweir member out", async (t) => {
  const byHeader = await twoRounds(await startWorld(t), {}, { "x-toolweir-compat": "strict" });
  const bySetting = await twoRounds(await startWorld(t, ["get_weather"], { yaml: "compat: strict" }));
  for (const seen of [byHeader, bySetting]) {
    assert.doesNotMatch(seen.text, /toolweir/);
    assert.equal(seen.content, "Let me look. It is sunny.");
    assert.ok(seen.headers.get("x-toolweir-run-id"), "the header stays");
  }
});

test("usage comes only when asked for: once, last, without choices, summed over the rounds", async (t) => {
  const world = await startWorld(t);
  const without = await twoRounds(world);
  assert.ok(
    without.chunks.every((chunk) => !chunk.usage),
    "not asked for, not sent",
  );
  const { chunks } = await twoRounds(world, { stream_options: { include_usage: true } });
  assert.deepEqual(
    chunks.flatMap((chunk, at) => (chunk.usage ? [at] : [])),
    [chunks.length - 1],
  );
  const last = chunks.at(-1);
  assert.deepEqual(last?.choices, []);
  assert.deepEqual(last?.usage, usage(11));
});

test("calls of the client's tools are numbered from 0 without a gap, with one head each", async (t) => {
  const world = await startWorld(t);
  const call = (index: number, id: string, place: string) =>
    `data: {"id":"u","choices":[{"index":0,"delta":{"tool_calls":[{"index":${index},"id":"${id}","type":"function","function":{"name":"mine","arguments":"{\\"place\\":\\"${place}\\"}"}}]}}]}\n\n`;
  const finish =
    'data: {"id":"u","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n';
  world.upstream.script("gaps", [sse(call(3, "a", "Paris"), call(7, "b", "Oslo"), finish)]);
  const seen = await stream(world.gateway, ask("gaps", { tools: [clientTool("mine")] }));
  assert.deepEqual(seen.calls, [
    { index: 0, id: "a", name: "mine", arguments: '{"place":"Paris"}' },
    { index: 1, id: "b", name: "mine", arguments: '{"place":"Oslo"}' },
  ]);
  assert.equal(seen.finish, "tool_calls");
  assert.equal(seen.summary["stop_reason"], "client_tools");
  assert.equal(seen.text.match(/"type":"function"/g)?.length, 2);
});

test("text is forwarded while the upstream is still speaking", async (t) => {
  const world = await startWorld(t);
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const [role = "", first = "", ...rest] = streamed(ANSWERS).body?.map(String) ?? [];
  world.upstream.script("slow", [sse(role, first, () => held, ...rest)]);
  const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ask("slow")),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes('"It "')) text += (await reader?.read())?.value ?? assert.fail("ended early");
  goOn();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
  assert.match(text, /\[DONE\]\n\n$/);
});

test("a silent upstream is covered by comments, or by chunks where the setting says so", async (t) => {
  for (const as of ["comment", "chunk"]) {
    const world = await startWorld(t, ["get_weather"], { yaml: `keepalive: { every_ms: 100, as: ${as} }` });
    world.tools.script("get_weather", [{ wait: 450, body: ['{"ok":true}'] }]);
    const seen = await twoRounds(world);
    const empty = seen.chunks.filter(
      ({ choices }) => choices[0] && Object.keys(choices[0].delta).length === 0,
    );
    if (as === "comment") assert.ok(seen.comments.length >= 2, `${seen.comments.length} comments`);
    else assert.ok(empty.length >= 3, `${empty.length} empty chunks`);
    assert.equal(seen.content, "Let me look. It is sunny.");
  }
});
