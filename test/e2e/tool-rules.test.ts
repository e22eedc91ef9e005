import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, send, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { streamed } from "./support/upstream.ts";
import { ANSWERS, startWorld } from "./support/world.ts";

const BOOKING = {
  parameters: {
    type: "object",
    properties: {
      city: { type: "string" },
      from: { type: "string", format: "date" },
      to: { type: "string", format: "date" },
      rooms: { type: "integer", minimum: 1 },
      currency: { type: "string" },
    },
    required: ["city", "from", "to"],
  },
  normalize: {
    city: ["trim", { strip_suffix: ["市"] }],
    from: ["date"],
    to: ["date"],
    rooms: ["chinese_number"],
  },
  defaults: { rooms: 1, currency: "CNY" },
  guard: { allow: "letters digits space -" },
};

const ORDER = {
  name: "order",
  check: "args.from < args.to",
  message: { en: "The stay must end after it begins.", zh: "退房日期须晚于入住日期。" },
};

/** What the model was told in the last round. */
const told = (body: { messages: readonly { role: string; content?: unknown }[] } | undefined) =>
  body?.messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => JSON.parse(String(content)).error);

test("a call is brought into form, judged by the tool's rules, and corrected by the model", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  await registerTool(gateway, "book", { url: tools.urlOf("book"), ...BOOKING, rules: [ORDER] });
  const calls = (args: object) => streamed({ calls: [{ name: "book", args }] });
  const stay = { city: "北京市", from: "2026/3/1", rooms: "三" };
  upstream.script("m", [
    calls({ ...stay, to: "2026年2月3日" }),
    calls({ ...stay, to: "2026-03-03", city: "北京;" }),
    calls({ ...stay, to: "20260303" }),
    streamed(ANSWERS),
  ]);
  const reply = await stream(gateway, ask("m"));
  assert.equal(reply.content, "It is sunny.");
  assert.deepEqual(
    tools.of("book").map(({ body }) => body),
    [{ city: "北京", from: "2026-03-01", to: "2026-03-03", rooms: 3, currency: "CNY" }],
  );
  assert.deepEqual(told(upstream.of("m").at(-1)?.body as never), [
    "The stay must end after it begins.",
    'Parameter "city" must not hold the character ";" (U+003B). Leave it out and call again.',
    null,
  ]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /toolweir_corrections_total\{outcome="corrected"\} 1\n/);
  assert.match(metrics, /toolweir_refusals_total\{tool="book"\} 2\n/);
});

test("invoke shows what the rules changed and said", async (t) => {
  const { tools, gateway } = await startWorld(t, []);
  await registerTool(gateway, "book", { url: tools.urlOf("book"), ...BOOKING, rules: [ORDER] });
  const invoke = async (args: object) => {
    const answer = await send(gateway, "/tools/book/invoke", { arguments: args, dry_run: true });
    return ((await answer.json()) as { gates: Record<string, unknown>[] }).gates;
  };
  assert.deepEqual((await invoke({ city: "上海", from: "2026-03-01", to: "2026-03-02" }))[2], {
    gate: "rules",
    pass: true,
    changes: [
      { path: "/rooms", to: 1, by: "defaults" },
      { path: "/currency", to: "CNY", by: "defaults" },
    ],
  });
  assert.deepEqual((await invoke({ city: "上海", from: "2026-03-02", to: "2026-03-02" })).at(-1), {
    gate: "rules",
    pass: false,
    code: "rule_violated",
    problem: "rule",
    feedback: "The stay must end after it begins.",
    rule: "order",
  });
});

test("a service is asked before the tool runs; without a yes the tool does not run", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  const rules = [{ url: tools.urlOf("check") }];
  await registerTool(gateway, "book", { url: tools.urlOf("book"), ...BOOKING, rules });
  const asks = {
    calls: [{ name: "book", args: { city: "Oslo", from: "2026-03-01", to: "2026-03-02" } }],
  };
  tools.script("check", [
    json({ ok: false, message: "Oslo is full." }),
    { status: 500, body: ["oops"] },
    json({ ok: true }),
  ]);
  upstream.script("m", [streamed(asks), streamed(asks), streamed(asks), streamed(ANSWERS)]);
  await stream(gateway, ask("m"));
  const [error, unavailable, fine] = told(upstream.of("m").at(-1)?.body as never) ?? [];
  assert.deepEqual([error, fine], ["Oslo is full.", null]);
  assert.match(unavailable, /could not be made just now/);
  assert.equal(tools.of("book").length, 1);
  const [question] = tools.of("check");
  const body = question?.body as { tool?: string; arguments?: object; session?: object; caller?: object };
  assert.deepEqual(
    [body.tool, body.arguments],
    ["book", { city: "Oslo", from: "2026-03-01", to: "2026-03-02", rooms: 1, currency: "CNY" }],
  );
  assert.deepEqual(
    [Object.keys(body.session ?? {}), Object.keys(body.caller ?? {})],
    [["id"], ["name", "level"]],
  );
});

test("a rule that cannot be right is refused with its place, and nothing is stored", async (t) => {
  const { tools, gateway } = await startWorld(t, []);
  const definition = {
    description: "When the user wants a room.",
    http: { method: "POST", url: tools.urlOf("book") },
    level: "read",
    ...BOOKING,
    rules: [{ check: "args.from < args.until", message: "x" }],
  };
  const answer = await send(gateway, "/tools/book", definition, {}, "PUT");
  assert.equal(answer.status, 422);
  const { error } = (await answer.json()) as {
    error: { code: string; details: { path: string; message: string }[] };
  };
  assert.equal(error.code, "invalid_tool_definition");
  assert.deepEqual(
    error.details.map(({ path }) => path),
    ["rules[0].check"],
  );
  assert.match(`${error.details[0]?.message}`, /at character 13: "until" is not a property/);
  assert.equal((await send(gateway, "/tools/book", undefined, {}, "GET")).status, 404);
});
