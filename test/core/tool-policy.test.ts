import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolDefinition } from "../../src/core/tool.ts";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";
import {
  actionFor,
  checkFallbackCycle,
  fallbackArguments,
  lintFallback,
} from "../../src/core/tool-policy.ts";
import { GatewayError } from "../../src/errors.ts";

const BASE = {
  name: "a",
  description: "When the user asks",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  http: { method: "POST", url: "https://a.example/" },
  level: "read",
};

const tool = (change: object = {}): ToolDefinition => ({
  ...checkToolDefinition({ ...BASE, ...change }).definition,
  version: 1,
});

function faultsOf(change: object): [reason: string, path: string][] {
  try {
    tool(change);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return (error.options.details ?? []).map(({ reason, path }) => [reason, path]);
  }
}

test("without a policy the model is told, and deprecated parameters are logged", () => {
  const plain = tool();
  for (const kind of ["argument", "business", "permission", "transient", "permanent", "timeout"] as const) {
    assert.equal(actionFor(plain, kind), "tell", kind);
  }
  assert.equal(actionFor(plain, "deprecated"), "log");
});

test("a fallback stands in for a tool that fails, not for one that answers", () => {
  const with_ = tool({ fallback: { tool: "b" }, policy: { timeout: "fail" } });
  assert.deepEqual(
    (["argument", "business", "permission", "transient", "permanent", "timeout"] as const).map((kind) =>
      actionFor(with_, kind),
    ),
    ["tell", "tell", "fallback", "fallback", "fallback", "fail"],
  );
  assert.equal(
    actionFor(tool({ fallback: { tool: "b" }, policy: { business: "fallback" } }), "business"),
    "fallback",
  );
});

for (const [name, change, expected] of [
  ["an unknown class", { policy: { other: "tell" } }, [["unknown_member", "policy.other"]]],
  ["an unknown action", { policy: { timeout: "retry" } }, [["invalid_value", "policy.timeout"]]],
  ["a fallback for arguments", { policy: { argument: "fallback" } }, [["invalid_value", "policy.argument"]]],
  ["logging a failure", { policy: { business: "log" } }, [["invalid_value", "policy.business"]]],
  [
    "a fallback that is not named",
    { policy: { timeout: "fallback" } },
    [["fallback_missing", "policy.timeout"]],
  ],
  ["a fallback without a tool", { fallback: {} }, [["missing", "fallback.tool"]]],
  ["a bad name", { fallback: { tool: "a b" } }, [["invalid_value", "fallback.tool"]]],
  [
    "an argument of another tool",
    { fallback: { tool: "b", arguments: { place: "{town}" } } },
    [["template_not_allowed", "fallback.arguments.place"]],
  ],
  [
    "an argument within a text",
    { fallback: { tool: "b", arguments: { place: "in {city}" } } },
    [["template_not_allowed", "fallback.arguments.place"]],
  ],
] as [string, object, [string, string][]][]) {
  test(`${name} is refused`, () => assert.deepEqual(faultsOf(change), expected));
}

test("arguments of a fallback keep their type, and what the call left out stays out", () => {
  const map = { place: "{city}", days: "{days}", unit: "celsius", deep: { a: 1 }, none: "{gone}" };
  assert.deepEqual(fallbackArguments({ tool: "b", arguments: map }, { city: "Oslo", days: 3n }), {
    place: "Oslo",
    days: 3n,
    unit: "celsius",
    deep: { a: 1 },
  });
  assert.deepEqual(fallbackArguments({ tool: "b" }, { city: "Oslo" }), { city: "Oslo" });
});

const found = (...tools: ToolDefinition[]) => {
  const byName = new Map(tools.map((one) => [one.name, one]));
  return (name: string) => byName.get(name);
};

test("fallbacks must not lead back, however long the way", () => {
  const b = tool({ name: "b", fallback: { tool: "c" } });
  const c = tool({ name: "c", fallback: { tool: "a" } });
  const a = tool({ fallback: { tool: "b" } });
  assert.deepEqual(checkFallbackCycle(tool({ fallback: { tool: "a" } }), found())[0]?.path, "fallback.tool");
  assert.match(`${checkFallbackCycle(a, found(b, c))[0]?.message}`, /a -> b -> c -> a/);
  assert.deepEqual(checkFallbackCycle(a, found(b)), []);
  assert.deepEqual(checkFallbackCycle(tool({ name: "d", fallback: { tool: "b" } }), found(a, b, c)), []);
});

test("advice about a fallback", () => {
  const reasons = (change: object, ...others: ToolDefinition[]) =>
    lintFallback(
      tool({ fallback: { tool: "b", ...change } }),
      found(...others),
      others.map(({ name }) => name),
    ).map(({ reason, path, suggestion }) => [reason, path, suggestion]);
  const b = (change: object = {}) => tool({ name: "b", ...change });
  assert.deepEqual(reasons({}, b()), []);
  assert.deepEqual(reasons({ tool: "get_wether" }, tool({ name: "get_weather" })), [
    ["fallback_missing", "fallback.tool", "get_weather"],
  ]);
  assert.deepEqual(reasons({ tool: "zzzzzz" }), [["fallback_missing", "fallback.tool", 'register "zzzzzz"']]);
  assert.equal(reasons({}, b({ level: "write" }))[0]?.[0], "fallback_needs_approval");
  assert.deepEqual(reasons({}, b({ level: "write", confirm: "never" })), []);
  assert.equal(reasons({ arguments: { town: "{city}" } }, b())[0]?.[0], "fallback_arguments");
  assert.equal(reasons({}, b({ fallback: { tool: "a" } }))[0]?.[0], "fallback_cycle");
  assert.deepEqual(lintFallback(tool(), found(), []), []);
});
