import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ask, complete, stream } from "./support/client.ts";
import { registerTool, startGateway } from "./support/gateway.ts";
import { settled } from "./support/open-stream.ts";
import { scriptedServer } from "./support/scripted-server.ts";
import { toolServer } from "./support/tool-server.ts";
import { scriptedUpstream, streamed, type UpstreamBody } from "./support/upstream.ts";

const call = (id: string) => ({ id, type: "function", function: { name: "get_weather", arguments: "{}" } });
const user = { role: "user", content: "Go." };

suite("a history that no upstream would take", { concurrency: true }, () => {
  for (const [what, messages, param] of [
    [
      "a tool message that answers nothing",
      [
        user,
        { role: "assistant", content: "Hi." },
        { role: "tool", tool_call_id: "call_x", content: "r" },
        user,
      ],
      "messages[2].tool_call_id",
    ],
    [
      "a tool message without tool_call_id",
      [user, { role: "assistant", content: null, tool_calls: [call("a")] }, { role: "tool", content: "r" }],
      "messages[2].tool_call_id",
    ],
    [
      "a call that is never answered",
      [
        user,
        { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
        { role: "tool", tool_call_id: "a", content: "r" },
        user,
      ],
      "messages[1].tool_calls[1]",
    ],
  ] as const) {
    test(`for ${what} is refused with the message at fault`, async (t) => {
      const upstream = await scriptedUpstream(t);
      upstream.script("m", [streamed({ text: "Done." })]);
      const gateway = await startGateway(t, { upstream: upstream.baseUrl });
      const { status, body } = await complete(gateway, ask("m", { messages }));
      assert.equal(status, 400);
      assert.equal(body.error.type, "invalid_request_error");
      assert.equal(body.error.param, param);
      assert.equal(upstream.requests.length, 0);
      await settled(gateway);
    });
  }
});

suite("a forced tool_choice", { concurrency: true }, () => {
  for (const [what, choice] of [
    ["required", "required"],
    ["a function", { type: "function", function: { name: "get_weather" } }],
  ] as const) {
    test(`(${what}) holds for the first round only`, async (t) => {
      const forced = (body: UpstreamBody) =>
        ![undefined, "auto", "none"].includes(body.tool_choice as string);
      const upstream = await scriptedServer<UpstreamBody>(t, ({ body }) => {
        const calls = [{ name: "get_weather", args: { place: "Oslo" } }];
        return streamed(forced(body) ? { calls } : { text: "Done." });
      });
      const tools = await toolServer(t);
      const gateway = await startGateway(t, { upstream: `${upstream.url}/v1` });
      await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather") });
      const seen = await stream(gateway, ask("m", { tool_choice: choice }));
      assert.equal(seen.content, "Done.");
      assert.equal(tools.requests.length, 1);
      const choices = upstream.requests.map(({ body }) => body.tool_choice);
      assert.deepEqual(choices, [choice, "auto"]);
    });
  }
});

suite("a model that cannot get its calls right", { concurrency: true }, () => {
  /** Plays `{"town": n}` for ever, as long as tools may be called. */
  async function playLoop(
    t: Parameters<typeof scriptedUpstream>[0],
    args: (n: number) => unknown,
    yaml = "",
  ) {
    let asked = 0;
    const upstream = await scriptedServer<UpstreamBody>(t, ({ body }) => {
      if (body.tool_choice === "none") return streamed({ text: "I give up." });
      return streamed({ calls: [{ name: "get_weather", args: args(++asked) }] });
    });
    const tools = await toolServer(t);
    const gateway = await startGateway(t, { upstream: `${upstream.url}/v1`, yaml });
    await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather") });
    return { upstream, tools, seen: await stream(gateway, ask("m")) };
  }

  const toolTexts = (body: UpstreamBody | undefined) =>
    (body?.messages ?? []).filter(({ role }) => role === "tool").map(({ content }) => String(content));

  test("is stopped after its corrections, and its last words are the answer", async (t) => {
    const { upstream, tools, seen } = await playLoop(t, (town) => ({ town }));
    assert.equal(seen.content, "I give up.");
    assert.equal(seen.finish, "stop");
    assert.equal(seen.summary["stop_reason"], "loop_guard");
    assert.ok(upstream.requests.length <= 11, `${upstream.requests.length} rounds`);
    assert.equal(tools.requests.length, 0);
    const told = toolTexts(upstream.requests.at(-1)?.body);
    assert.equal(told.length, upstream.requests.length - 1);
    for (const text of told) assert.match(text, /place/);
  });

  test("is stopped when every call is wrong in another way", async (t) => {
    const wrong = (n: number) => (n % 2 === 0 ? { place: n, [`x${n}`]: 1 } : { place: [n] });
    const { upstream, tools, seen } = await playLoop(t, wrong);
    assert.equal(seen.content, "I give up.");
    assert.equal(seen.summary["stop_reason"], "loop_guard");
    assert.ok(upstream.requests.length <= 11, `${upstream.requests.length} rounds`);
    assert.equal(tools.requests.length, 0);
  });

  test("is stopped by the rounds when its calls are good but never end", async (t) => {
    const { upstream, tools, seen } = await playLoop(t, (n) => ({ place: `P${n}` }), "limits: { rounds: 4 }");
    assert.equal(seen.content, "I give up.");
    assert.equal(seen.finish, "stop");
    assert.equal(seen.summary["stop_reason"], "max_rounds");
    assert.equal(upstream.requests.length, 5);
    assert.equal(tools.requests.length, 4);
  });
});
