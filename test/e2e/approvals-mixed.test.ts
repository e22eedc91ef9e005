import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { approvals, SAYS, settled, startShop } from "./support/shop.ts";
import { whole } from "./support/upstream.ts";
import { clientTool } from "./support/world.ts";

const ORDER = { id: "o", name: "create_order", args: { place: "Oslo" } };

test("a call that waits beside a call of the client is told as it stands whenever the client comes back", async (t) => {
  const { gateway, upstream, tools } = await startShop(t);
  const calls = [ORDER, { id: "u", name: "show_map", args: {} }];
  upstream.script("m", [whole({ calls }), whole(SAYS), whole(SAYS)]);
  const members = { tools: [clientTool("show_map")] };
  const first = await complete(gateway, ask("m", members));
  const { message, finish_reason } = first.body.choices[0];
  assert.deepEqual([finish_reason, message.tool_calls.length], ["tool_calls", 1]);
  const [pending] = first.body.toolweir.pending_approvals;
  const messages = [
    { role: "user", content: "Go." },
    message,
    { role: "tool", tool_call_id: "u", content: "open" },
  ];
  const back = async () => {
    await complete(gateway, ask("m", { ...members, messages }));
    return upstream.of("m").at(-1)?.body.messages ?? [];
  };
  const before = await back();
  assert.deepEqual(
    before.map(({ role, tool_call_id }) => tool_call_id ?? role),
    ["user", "assistant", "o", "u"],
  );
  assert.match(String(before[2]?.content), /waits for a person's approval/);
  assert.deepEqual(Object.keys(before[2] ?? {}).sort(), ["content", "role", "tool_call_id"]);
  await approvals(gateway, `/${pending.id}/approve`, {});
  await settled(gateway, pending.id);
  assert.match(String((await back())[2]?.content), /"success":true/);
  assert.equal(tools.requests.length, 1);
});

test("the other calls of an answer run, and several wait together", async (t) => {
  const { gateway, upstream, tools } = await startShop(t);
  await registerTool(gateway, "get_price", { url: tools.urlOf("get_price") });
  const second = { ...ORDER, id: "o2", args: { place: "Bergen" } };
  const price = { id: "p", name: "get_price", args: { place: "Oslo" } };
  upstream.script("m", [whole({ calls: [ORDER, price, second] }), whole(SAYS)]);
  const { body } = await complete(gateway, ask("m"));
  const { pending_approvals: pending, run_id } = body.toolweir;
  assert.deepEqual([pending.length, tools.of("get_price").length], [2, 1]);
  await approvals(gateway, `/${pending[0].id}/approve`, {});
  const resume = () => fetch(`${gateway.url}/runs/${run_id}/resume`, { method: "POST" });
  assert.equal((await resume()).status, 409);
  await approvals(gateway, `/${pending[1].id}/deny`, { reason: "too far" });
  assert.equal((await resume()).status, 200);
  const sent = upstream.of("m")[1]?.body.messages.slice(2) ?? [];
  assert.deepEqual(
    sent.map(({ tool_call_id, content }) => [tool_call_id, /"success":true/.test(String(content))]),
    [
      ["o", true],
      ["p", true],
      ["o2", false],
    ],
  );
});
