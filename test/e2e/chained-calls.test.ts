import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ask, send, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { streamed } from "./support/upstream.ts";
import { startWorld } from "./support/world.ts";

const OUTPUT = { type: "object", properties: { name: { type: "string" } } };

test("five tools of 600 ms, two of them dependent, take the time of the longest chain", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  for (const name of ["a", "b", "c", "d", "e"]) {
    await registerTool(gateway, name, { url: tools.urlOf(name), parallel_safe: true });
    tools.script(name, [{ ...json({ name: `from ${name}` }), wait: 600 }]);
  }
  const call = (name: string, place: string) => ({ name, args: { place } });
  upstream.script("m", [
    streamed({
      calls: [
        call("a", "1"),
        call("b", "2"),
        call("c", "3"),
        call("d", "{{a.data.name}}"),
        call("e", "x {{b.data.name}}"),
      ],
    }),
    streamed({ text: "Done." }),
  ]);
  const seen = await stream(gateway, ask("m"));
  assert.equal(seen.content, "Done.");
  const [first, ...others] = tools.requests;
  const begun = others.map(({ at }) => at - (first?.at ?? 0));
  assert.deepEqual(tools.requests.map(({ body }) => body["place"]).sort(), [
    "1",
    "2",
    "3",
    "from a",
    "x from b",
  ]);
  const last = upstream.of("m")[1]?.at ?? 0;
  const took = last - (first?.at ?? 0);
  t.diagnostic(`${Math.round(took)} ms; begun after ${begun.map(Math.round).join(", ")} ms`);
  assert.ok(took < 1_200 * 1.1, `${took} ms`);
});

test("the model learns how to refer where tools can be chained, and reads what came of it", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  await registerTool(gateway, "get_city", { url: tools.urlOf("get_city"), output: OUTPUT });
  tools.script("get_city", [json({ name: "Oslo" })]);
  const reply = streamed({
    calls: [
      { name: "get_city", args: { place: "capital of Norway" } },
      { name: "get_weather", args: { place: "{{get_city.data.name}}" } },
    ],
  });
  upstream.script("m", [reply, streamed({ text: "Cold." })]);
  const client = new OpenAI({ apiKey: "none", baseURL: `${gateway.url}/v1` });
  const answer = await client.chat.completions
    .stream({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "?" },
      ],
    })
    .finalContent();
  assert.equal(answer, "Cold.");
  const [first, second] = upstream.of("m");
  assert.match(`${first?.body.messages[0]?.content}`, /^Be brief\.\n\n.*\{\{get_city\.data\.name\}\}/);
  assert.equal(first?.body.messages.length, 2);
  const results = second?.body.messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => `${content}`);
  assert.match(results?.[1] ?? "", /"got":\{"place":"Oslo"\}/);
});

test("an output that is no schema is a fault with its path", async (t) => {
  const { gateway } = await startWorld(t, []);
  const definition = { name: "a", level: "read", http: { method: "GET", url: "https://a.example/" } };
  const output = { type: "object", properties: { a: { type: "strin" } } };
  const response = await send(gateway, "/tools/a", { ...definition, output }, {}, "PUT");
  const { error } = JSON.parse(await response.text());
  assert.deepEqual(
    [response.status, error.code, error.details[0].path],
    [422, "schema_rejected", "output.properties.a.type"],
  );
});

test("what needs a call that waits for a person is told so, and nothing of it runs", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  await registerTool(gateway, "create_order", { url: tools.urlOf("create_order"), level: "write" });
  const calls = [
    { name: "create_order", args: { place: "Oslo" } },
    { name: "get_weather", args: { place: "{{create_order.data.got.place}}" } },
  ];
  upstream.script("m", [streamed({ calls })]);
  const seen = await stream(gateway, ask("m"));
  assert.equal(seen.summary["stop_reason"], "approval_required");
  assert.equal(tools.requests.length, 0);
  const run = await send(gateway, `/runs/${seen.headers.get("x-toolweir-run-id")}`, undefined, {}, "GET");
  const [order, weather] = JSON.parse(await run.text()).rounds[0].calls;
  assert.deepEqual(
    [order.outcome, weather.outcome, weather.error_kind],
    ["pending", "rejected", "dependency"],
  );
});
