import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChatRequest, ToolSpec } from "../../src/core/protocol/wire.ts";
import { type Caller, makeOffer, matchesGlob, mayUse } from "../../src/engine/offer.ts";
import { createSnapshot } from "../../src/engine/registry/tool-snapshot.ts";
import { GatewayError } from "../../src/errors.ts";
import { CALLER, toolNamed } from "../support/engine.ts";

const TOOLS = [
  toolNamed("get_weather"),
  toolNamed("get_time"),
  toolNamed("put", { level: "write" }),
  toolNamed("wipe", { level: "admin" }),
];
const SNAPSHOT = createSnapshot(1, TOOLS);
const own = (name: string) => ({ type: "function", function: { name } });

function offer(request: Partial<ChatRequest> = {}, header?: string, caller: Partial<Caller> = {}) {
  const whole = { model: "m", messages: [], ...request };
  const made = makeOffer(whole, SNAPSHOT, { ...CALLER, ...caller }, header);
  return {
    ...made,
    gatewayNames: [...made.gateway.keys()],
    addedNames: made.added.map((text) => (JSON.parse(text) as ToolSpec).function?.name),
  };
}

function refusal(request: Partial<ChatRequest>, header?: string, caller: Partial<Caller> = {}): GatewayError {
  try {
    offer(request, header, caller);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
  return assert.fail("the request was accepted");
}

for (const [glob, text, fits] of [
  ["*", "", true],
  ["get_*", "get_weather", true],
  ["get_*", "get_", true],
  ["get_*", "put", false],
  ["*_weather", "get_weather", true],
  ["*e*e*", "get_weather", true],
  ["*e*e*e*e*", "get_weather", false],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["ab*ba", "aba", false],
  ["get.weather", "get_weather", false],
  ["", "", true],
  ["", "a", false],
  ["a", "A", false],
] as const) {
  test(`the glob "${glob}" ${fits ? "fits" : "does not fit"} "${text}"`, () =>
    assert.equal(matchesGlob(glob, text), fits));
}

test("a glob says what the regular expression of its parts says", () => {
  const words = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  fc.assert(
    fc.property(words, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 }), (glob, text) => {
      assert.equal(matchesGlob(glob, text), new RegExp(`^${glob.replaceAll("*", ".*")}$`).test(text));
    }),
    { numRuns: 2_000 },
  );
});

test("without a header, all that the caller may use is offered, but no admin tool", () => {
  assert.deepEqual(offer().gatewayNames, ["get_time", "get_weather", "put"]);
  assert.deepEqual(offer({}, undefined, { maxLevel: "read" }).gatewayNames, ["get_time", "get_weather"]);
  assert.deepEqual(offer({}, undefined, { tools: ["*_time", "put"] }).gatewayNames, ["get_time", "put"]);
  assert.deepEqual(offer({}, undefined, { tools: [] }).gatewayNames, []);
});

test("a level is a level and all below it", () => {
  const may = (maxLevel: Caller["maxLevel"]) =>
    TOOLS.filter((tool) => mayUse({ ...CALLER, maxLevel }, tool)).length;
  assert.deepEqual([may("read"), may("write"), may("admin")], [2, 3, 4]);
});

for (const [header, names] of [
  ["get_weather", ["get_weather"]],
  [" get_weather , get_time ,", ["get_weather", "get_time"]],
  ["get_time,get_time", ["get_time"]],
  ["wipe", ["wipe"]],
  ["none", []],
  [" none ", []],
  ["", []],
] as const) {
  test(`the header "${header}" offers ${names.join(" and ") || "nothing"}`, () => {
    assert.deepEqual(offer({}, header).gatewayNames, names);
  });
}

for (const [name, header, caller, code] of [
  ["a tool that is not registered", "nobody", {}, "invalid_value"],
  ["none beside another", "none,get_time", {}, "invalid_value"],
  ["a tool above the caller's level", "put", { maxLevel: "read" }, "tool_not_permitted"],
  ["a tool outside of the caller's list", "get_time", { tools: ["put"] }, "tool_not_permitted"],
] as const) {
  test(`a header that names ${name} is refused`, () => {
    const error = refusal({}, header, caller);
    assert.deepEqual([error.code, error.options.param], [code, "x-toolweir-tools"]);
  });
}

test("a name that both declare is the client's, unless the header names the tool", () => {
  const request = { tools: [own("get_time"), own("ask")] };
  const unasked = offer(request);
  assert.deepEqual([unasked.gatewayNames, unasked.owner("get_time")], [["get_weather", "put"], "client"]);
  assert.deepEqual(unasked.addedNames, ["get_weather", "put"]);
  const asked = offer(request, "get_time");
  assert.deepEqual(
    [asked.gatewayNames, asked.owner("get_time"), asked.owner("ask")],
    [["get_time"], "gateway", "client"],
  );
  assert.deepEqual(asked.addedNames, [], "the client declares it already");
});

test("a name that nobody declared is unknown, unless the run is only passed through", () => {
  assert.equal(offer({}).owner("nobody"), "unknown");
  assert.equal(offer({ tools: [own("ask")] }).owner("ask"), "client");
  const older = offer({ functions: [{ name: "ask" }] });
  for (const through of [offer({}, "none"), offer({ tool_choice: "none" }), offer({ n: 2 }), older]) {
    assert.deepEqual(
      [through.gatewayNames, through.owner("nobody"), through.owner("get_time")],
      [[], "client", "client"],
    );
  }
});

test("custom tools of the client are the client's", () => {
  const tools = [{ type: "custom", custom: { name: "sql" } }, { type: "web_search" }, own("ask")];
  const made = offer({ tools });
  assert.deepEqual([...made.client], ["sql", "ask"]);
  assert.deepEqual(made.addedNames, ["get_time", "get_weather", "put"]);
});

for (const [name, request, header, code] of [
  ["a gateway tool", { tool_choice: own("get_time") }, undefined, undefined],
  ["a client tool", { tools: [own("ask")], tool_choice: own("ask") }, undefined, undefined],
  ["a tool that the header leaves out", { tool_choice: own("get_time") }, "put", "tool_not_permitted"],
  ["an admin tool that was not asked for", { tool_choice: own("wipe") }, undefined, "tool_not_permitted"],
  ["an admin tool that was asked for", { tool_choice: own("wipe") }, "wipe", undefined],
  [
    "a gateway tool with several choices",
    { n: 2, tool_choice: own("get_time") },
    undefined,
    "tool_not_permitted",
  ],
  ["a tool that nobody declared", { tool_choice: own("nobody") }, undefined, "invalid_value"],
  ["no name", { tool_choice: { type: "function" } }, undefined, "invalid_value"],
  [
    "a name of another type",
    { tool_choice: { type: "function", function: { name: 7 } } },
    undefined,
    "invalid_value",
  ],
  ["an allow-list", { tool_choice: { type: "allowed_tools" } }, undefined, undefined],
  ["null", { tool_choice: null }, undefined, undefined],
] as [string, Partial<ChatRequest>, string | undefined, string | undefined][]) {
  test(`a tool_choice that forces ${name} is ${code ? `refused with ${code}` : "accepted"}`, () => {
    if (code === undefined) assert.doesNotThrow(() => offer(request, header));
    else {
      const error = refusal(request, header);
      assert.deepEqual([error.code, error.options.param], [code, "tool_choice"]);
    }
  });
}
