import assert from "node:assert/strict";
import { test } from "node:test";
import { lintAmong } from "../../src/core/tool-lint-registry.ts";

const tool = (name: string, description = "", parameters: string[] = []) => ({
  name,
  description,
  parameters: {
    type: "object",
    properties: Object.fromEntries(parameters.map((parameter) => [parameter, {}])),
  },
});
const reasons = (own: ReturnType<typeof tool>, ...others: ReturnType<typeof tool>[]) =>
  lintAmong(own, others).map(({ reason }) => reason);

for (const [a, b] of [
  ["get_user", "get_users"],
  ["get_user", "getUser"],
  ["get_weather", "fetch_weather"],
  ["search_orders", "find_order"],
  ["weather_get", "get_weather"],
  ["lookup1", "lookup2"],
  ["get_form", "get_from"],
] as const) {
  test(`${a} and ${b} are nearly the same name`, () => {
    assert.deepEqual(reasons(tool(a), tool(b)), ["name_ambiguous"]);
    assert.deepEqual(reasons(tool(b), tool(a)), ["name_ambiguous"]);
  });
}

for (const [a, b] of [
  ["get_user", "get_order"],
  ["import_invoice", "export_invoice"],
  ["create_ticket", "delete_ticket"],
  ["enable_door", "disable_door"],
  ["add", "ad"],
  ["list_orders", "get_order"],
] as const) {
  test(`${a} and ${b} are told apart`, () => assert.deepEqual(reasons(tool(a), tool(b)), []));
}

test("a tool is not compared with itself or its own earlier version", () => {
  assert.deepEqual(reasons(tool("get_user", "When a user"), tool("get_user", "When a user")), []);
});

test("descriptions that say the same in other words around it are noted, others are not", () => {
  const orders = "Use it when the user asks for the status of a past order.";
  const same = "Whenever the user wants the status of past order";
  const [found] = lintAmong(tool("order_status", orders), [tool("purchase_state", same)]);
  assert.equal(found?.reason, "description_ambiguous");
  assert.match(found?.message ?? "", /"order_status" and "purchase_state"/);
  assert.equal(found?.suggestion, `${orders} Only for order status; for everything else use purchase_state.`);
  const other = "Use it when the user asks for the refund of a past order.";
  assert.deepEqual(reasons(tool("order_status", orders), tool("refund", other)), []);
  assert.deepEqual(reasons(tool("a1x", "查询城市天气"), tool("b2y", "查询城市的天气")), [
    "description_ambiguous",
  ]);
  assert.deepEqual(reasons(tool("a1x", ""), tool("b2y", "")), [], "missing descriptions are another note");
});

test("a clearer name is made from the tool's own description, else from a parameter", () => {
  const suggestion = (own: ReturnType<typeof tool>, other: ReturnType<typeof tool>) =>
    lintAmong(own, [other])[0]?.suggestion;
  assert.equal(
    suggestion(tool("get_users", "Use it for billing."), tool("get_user", "Use it for one.")),
    "get_users_billing",
  );
  assert.equal(
    suggestion(tool("get_users", "", ["teamId"]), tool("get_user", "", ["id"])),
    "get_users_by_team_id",
  );
  assert.match(suggestion(tool("get_users"), tool("get_user")) ?? "", /^one tool for both, "get_user"/);
});

test("however many tools are near, there are two notes, which name three of them", () => {
  const others = Array.from({ length: 9 }, (_, n) => tool(`lookup${n}`, "Finds parcels by number quickly"));
  const notes = lintAmong(tool("lookup", "Finds parcels by number quickly"), others);
  assert.deepEqual(
    notes.map(({ path }) => path),
    ["name", "description"],
  );
  assert.match(notes[0]?.message ?? "", /"lookup0", "lookup1", "lookup2" and 6 more/);
});
