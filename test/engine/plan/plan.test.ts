import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MAX_MESSAGE } from "../../../src/core/schema/message.ts";
import { type PlanCall, planCalls } from "../../../src/engine/plan/plan.ts";
import { explainPlan, type PlanFault } from "../../../src/engine/plan/plan-fault.ts";

const OFFERED = new Set(["a", "b", "c", "d"]);
const plan = (...calls: [name: string, ...refs: string[]][]) =>
  planCalls(
    calls.map(([name, ...refs]): PlanCall => ({ name, args: { p: refs.map((ref) => `{{${ref}}}`) } })),
    (name) => (OFFERED.has(name) ? "gateway" : name === "mine" ? "client" : "unknown"),
  );
const needs = (...calls: Parameters<typeof plan>) => plan(...calls).map((step) => step.needs);
const faults = (...calls: Parameters<typeof plan>) => plan(...calls).map(({ fault }) => fault?.kind);

test("calls need what they refer to, once each", () => {
  assert.deepEqual(needs(["a"], ["b", "a.data.x", "a.data.y"], ["c", "b.data", "a.data"]), [[], [0], [0, 1]]);
});

test("an index counts the calls of the tool in the message", () => {
  assert.deepEqual(needs(["a"], ["a"], ["b", "a[1].data", "a.data"]), [[], [], [0, 1]]);
});

test("the second call of a tool may refer to the first", () => {
  assert.deepEqual(faults(["a"], ["a", "a[0].data"]), [undefined, undefined]);
});

for (const [name, calls, expected, sentence] of [
  ["a call that is not there", [["a"], ["b", "x.data"]], [undefined, "unknown"], /names no call.*"a"/],
  ["a tool that is not called", [["b", "c.data"]], ["unknown"], /"c" is not called in this message/],
  ["an index beyond the calls", [["a"], ["b", "a[3].data"]], [undefined, "unknown"], /called 1 times/],
  ["a later call", [["b", "a.data"], ["a"]], ["order", undefined], /comes later/],
  ["itself", [["a", "a.data"]], ["cycle"], /circle: a > a\./],
  [
    "each other",
    [
      ["a", "b.data"],
      ["b", "a.data"],
    ],
    ["cycle", "cycle"],
    /circle: a > b > a\./,
  ],
  [
    "a circle of three",
    [
      ["a", "c.data"],
      ["b", "a.data"],
      ["c", "b.data"],
      ["d", "a.data"],
    ],
    ["cycle", "cycle", "cycle", undefined],
    /circle: a > c > b > a\./,
  ],
  ["no member of the answer", [["a"], ["b", "a.name"]], [undefined, "member"], /must begin with "data"/],
] as const) {
  test(`a reference to ${name} is refused with a sentence`, () => {
    const steps = plan(...(calls as unknown as [string, ...string[]][]));
    assert.deepEqual(
      steps.map(({ fault }) => fault?.kind),
      expected,
    );
    const fault = steps.find((step) => step.fault)?.fault;
    assert.ok(fault);
    assert.match(explainPlan(fault, "en"), sentence);
    for (const [locale, longest] of [
      ["en", 180],
      ["zh", 80],
    ] as const) {
      const text = explainPlan(fault, locale);
      assert.ok(text.length <= longest, `${text.length}: ${text}`);
    }
  });
}

test("placeholders of templates are text", () => {
  assert.deepEqual(faults(["a", "customer.name", "order.total"], ["b", "name"]), [undefined, undefined]);
});

/** References of a message, those of each call to some of the others. */
const messages = fc.array(fc.array(fc.nat({ max: 7 }), { maxLength: 3 }), { minLength: 1, maxLength: 8 });

test("a plan without faults can run in the model's order, and a fault is found wherever there is none such", () => {
  fc.assert(
    fc.property(messages, (references) => {
      const calls = references.map((targets): [string, ...string[]] => [
        "t",
        ...targets.map((at) => `t[${at}].data`),
      ]);
      for (const [at, step] of plan(...calls).entries()) {
        const targets = references[at] ?? [];
        const isSound = targets.every((target) => target < at);
        if (isSound && step.fault) assert.equal(step.fault.kind, "cycle");
        if (!isSound) assert.ok(step.fault);
        assert.deepEqual(step.needs, [...new Set(targets.filter((target) => target < at))].sort());
      }
    }),
  );
});

test("many references are as many as the calls that they lead to", () => {
  const calls = Array.from({ length: 8 }, (_, at) => ["t", ...Array(20_000).fill(`t[${at - 1}].data`)]);
  calls[0] = ["t"];
  const begin = performance.now();
  const steps = plan(...(calls as [string, ...string[]][]));
  assert.deepEqual(
    steps.map((step) => step.needs),
    calls.map((_, at) => (at === 0 ? [] : [at - 1])),
  );
  assert.ok(performance.now() - begin < 5_000);
});

test("no sentence is longer than a model is told, whatever is named in it", () => {
  const [name, other] = ["n".repeat(64), "m".repeat(64)];
  const reference = { text: `{{${name}${".p".repeat(31)}}}`, name, index: 0, path: ["data"] };
  const earlier = [other, name, other];
  const faults: PlanFault[] = [
    { kind: "unknown", reference, times: 3, owner: "gateway", earlier },
    ...(["gateway", "client", "unknown"] as const).map((owner) => ({
      kind: "unknown" as const,
      reference,
      times: 0,
      owner,
      earlier,
    })),
    { kind: "cycle", reference, names: [name, other, name, other, name] },
    { kind: "order", reference },
    { kind: "member", reference },
    { kind: "nowhere", reference, missing: name, before: ["data", other, name], names: earlier },
    { kind: "type", reference, at: [name, name], gives: "string or number", takes: "integer or boolean" },
    { kind: "size", reference, limit: 1_048_576 },
    ...(["failed", "waiting", "dry_run"] as const).map((kind) => ({ kind, name })),
  ];
  for (const fault of faults) {
    for (const locale of ["en", "zh"] as const) {
      const text = explainPlan(fault, locale);
      assert.ok(text.length <= MAX_MESSAGE[locale], `${text.length}: ${text}`);
      assert.ok(!text.endsWith("…"), text);
    }
  }
});
