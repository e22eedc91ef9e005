import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ask, complete, stream } from "./support/client.ts";
import { approvals, as, ORDERS, PEOPLE, SAYS, startShop } from "./support/shop.ts";
import { streamed, whole } from "./support/upstream.ts";

const CLIENT = { "x-toolweir-approval": "client" };

interface Confirmation {
  tool: string;
  arguments: unknown;
  approval_id: string;
}

async function asked(world: Awaited<ReturnType<typeof startShop>>, name: string) {
  world.upstream.script("m", [whole(ORDERS), whole(SAYS)]);
  const { body } = await complete(world.gateway, ask("m"), { ...CLIENT, ...as(name) });
  const { message, finish_reason } = body.choices[0];
  assert.deepEqual([finish_reason, body.toolweir.stop_reason], ["tool_calls", "approval_required"]);
  const [call] = message.tool_calls;
  const answer = (content: string, more: object[] = []) => {
    const messages = [
      { role: "user", content: "Go." },
      message,
      { role: "tool", tool_call_id: call.id, content },
      ...more,
    ];
    return complete(world.gateway, ask("m", { messages }), { ...CLIENT, ...as(name) });
  };
  return { call, answer, confirmation: JSON.parse(call.function.arguments) as Confirmation };
}

test("the client asks its user, whose yes counts as that of its key; the model never sees the question", async (t) => {
  const world = await startShop(t, PEOPLE);
  const { call, answer, confirmation } = await asked(world, "both");
  assert.equal(call.function.name, "confirm_tool_call");
  assert.deepEqual([confirmation.tool, confirmation.arguments], ["create_order", { place: "Oslo" }]);
  const { body } = await answer('{"approved": true, "reason": "yes please"}');
  assert.equal(body.choices[0].message.content, "Done.");
  const sent = world.upstream.of("m")[1]?.body.messages ?? [];
  assert.deepEqual(
    sent.map(({ role }) => role),
    ["user", "assistant", "tool"],
  );
  assert.match(JSON.stringify(sent[1]), /create_order/);
  assert.doesNotMatch(JSON.stringify(sent), /confirm_tool_call/);
  assert.match(String(sent[2]?.content), /"success":true/);
  const { body: shown } = await approvals(
    world.gateway,
    `/${confirmation.approval_id}`,
    undefined,
    as("boss"),
  );
  assert.deepEqual([shown.decided_by, shown.reason], ["both", "yes please"]);
  await answer('{"approved": false}', [
    { role: "assistant", content: "Done." },
    { role: "user", content: "Thanks." },
  ]);
  assert.equal(world.tools.requests.length, 1, "the history that comes again decides nothing again");
});

test("a no is told to the model", async (t) => {
  const world = await startShop(t, PEOPLE);
  const { answer } = await asked(world, "both");
  await answer('{"approved": false, "reason": "not today"}');
  assert.match(String(world.upstream.of("m")[1]?.body.messages[2]?.content), /denied this call: not today/);
  assert.equal(world.tools.requests.length, 0);
});

test("a key that may not decide, and an answer that says nothing, leave the call waiting", async (t) => {
  const world = await startShop(t, PEOPLE);
  const { answer, confirmation } = await asked(world, "app");
  await answer('{"approved": true}');
  const waits = (n: number) =>
    assert.match(
      String(world.upstream.of("m")[n]?.body.messages[2]?.content),
      /waits for a person's approval/,
    );
  waits(1);
  const other = await asked(world, "both");
  await other.answer("approved");
  await other.answer('{"approved": "true"}');
  assert.equal(world.tools.requests.length, 0);
  for (const id of [confirmation.approval_id, other.confirmation.approval_id]) {
    assert.equal((await approvals(world.gateway, `/${id}`, undefined, as("boss"))).body.status, "pending");
  }
});

test("four eyes hold here too", async (t) => {
  const world = await startShop(t, PEOPLE, { four_eyes: true });
  const { answer } = await asked(world, "both");
  await answer('{"approved": true}');
  assert.equal(world.tools.requests.length, 0);
});

test("the openai client gets the question in a stream like any call of its own", async (t) => {
  const world = await startShop(t);
  world.upstream.script("m", [streamed(ORDERS), streamed(SAYS)]);
  const first = await stream(world.gateway, ask("m"), CLIENT);
  assert.deepEqual(
    [first.finish, first.calls.map(({ name }) => name)],
    ["tool_calls", ["confirm_tool_call"]],
  );
  const client = new OpenAI({
    baseURL: `${world.gateway.url}/v1`,
    apiKey: "unused",
    defaultHeaders: CLIENT,
    maxRetries: 0,
  });
  world.upstream.script("o", [whole(ORDERS), whole(SAYS)]);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Go." }];
  const question = await client.chat.completions.create({ model: "o", messages });
  const message = question.choices[0]?.message;
  const id = message?.tool_calls?.[0]?.id ?? "";
  assert.ok(message);
  messages.push(message, { role: "tool", tool_call_id: id, content: JSON.stringify({ approved: true }) });
  const done = await client.chat.completions.create({ model: "o", messages });
  assert.equal(done.choices[0]?.message.content, "Done.");
  assert.equal(world.tools.requests.length, 1);
});
