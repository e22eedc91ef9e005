import assert from "node:assert/strict";
import { test } from "node:test";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import type { Passage } from "../../../src/engine/gates/gate.ts";
import { pass } from "../../support/gates.ts";

const gatesOf = ({ verdicts }: Passage) => verdicts.map(({ gate, pass: passed }) => `${gate} ${passed}`);

test("a call that is in order passes all four gates, in this order", () => {
  const passage = pass('{"city":"Oslo"}');
  assert.deepEqual(gatesOf(passage), ["syntax true", "schema true", "rules true", "context true"]);
  assert.deepEqual([passage.args, passage.refusal], [{ city: "Oslo" }, undefined]);
});

for (const raw of ["", " \n", "{}", "null"]) {
  test(`${JSON.stringify(raw)} is no arguments at all`, () => {
    assert.deepEqual(pass(raw, { parameters: undefined }).args, {});
    assert.equal(pass(raw).refusal?.problem, "missing");
  });
}

for (const [raw, problem, said] of [
  ['{"city":', "incomplete", /not valid JSON: .*complete JSON object/],
  ['{"city":"x"}}', "trailing", /not valid JSON/],
  ['{"city":"x"y"}', "syntax", /not valid JSON/],
  ["[".repeat(65), "depth", /not valid JSON/],
] as const) {
  test(`${raw.slice(0, 20)} stops at the syntax gate: ${problem}`, () => {
    const passage = pass(raw);
    assert.deepEqual(gatesOf(passage), ["syntax false"]);
    assert.deepEqual(
      [passage.refusal?.code, passage.refusal?.problem, passage.args],
      ["arguments_invalid", problem, undefined],
    );
    assert.match(`${passage.refusal?.feedback}`, said);
  });
}

test("arguments that were too long are not judged by their beginning", () => {
  const { refusal } = pass('{"city":"x"}', {}, {}, { tooLong: true });
  assert.deepEqual([refusal?.gate, refusal?.code], ["syntax", "arguments_too_large"]);
});

test("arguments that can be read in one way only are repaired, and the verdict says how", () => {
  const passage = pass("```\n{'city': 'Oslo',}\n```");
  assert.deepEqual(gatesOf(passage), ["syntax true", "schema true", "rules true", "context true"]);
  assert.deepEqual(passage.args, { city: "Oslo" });
  const [syntax] = passage.verdicts;
  assert.deepEqual(syntax?.pass && syntax.repairs, ["code_fence", "single_quotes", "trailing_comma"]);
});

test("valid arguments are not asked to be repaired", () => {
  const [syntax] = pass('{"city":"Use ```js\\n``` and \'x\',}"}').verdicts;
  assert.deepEqual(syntax, { gate: "syntax", pass: true });
});

test("with repair off, arguments that are not JSON stop at the syntax gate, with the fault that they have", () => {
  const { refusal } = pass("{'city':'x'}", {}, { repair: "off" });
  assert.deepEqual([refusal?.gate, refusal?.problem], ["syntax", "syntax"]);
  assert.match(`${refusal?.feedback}`, /at position 1, but found "'"\. Send/);
});

test("what cannot be repaired is explained as the strict parser sees it", () => {
  const { refusal } = pass('{"city":"x",} {');
  assert.match(`${refusal?.feedback}`, /at position 12, but found "}"/);
});

test("what changes something needs a person, and a repaired call does whatever its tool says of approvals", () => {
  const approval = (raw: string, change: object) => pass(raw, change).approval;
  const repaired = "{city: 'x'}";
  const valid = '{"city":"x"}';
  assert.deepEqual(
    [approval(valid, { level: "read" }), approval(repaired, { level: "read" })],
    [undefined, undefined],
  );
  assert.deepEqual(
    [approval(valid, { level: "write" }), approval(repaired, { level: "write" })],
    ["level", "level"],
  );
  const never = { level: "write", confirm: "never" };
  assert.deepEqual([approval(valid, never), approval(repaired, never)], [undefined, "repaired"]);
  const verdict = pass(repaired, never).verdicts.at(-1);
  assert.deepEqual(verdict, { gate: "context", pass: true, approval: "repaired" });
  const { refusal } = pass(repaired, { level: "admin", confirm: "never" });
  assert.deepEqual([refusal?.code, refusal?.problem], ["session_not_elevated", "elevation"]);
});

for (const raw of ["[]", '"x"', "7", "true", "[1]"]) {
  test(`${raw} is no object of arguments`, () => {
    assert.deepEqual(gatesOf(pass(raw)), ["syntax true", "schema false"]);
  });
}

test("the schema gate changes what loses nothing and notes it", () => {
  const parameters = { type: "object", properties: { n: { type: "integer" } } };
  const passage = pass('{"n":"12345678901234567890"}', { parameters });
  assert.deepEqual(passage.args, { n: 12345678901234567890n });
  const [, schema] = passage.verdicts;
  assert.deepEqual(schema?.pass && schema.changes, [
    { path: "/n", from: "12345678901234567890", to: 12345678901234567890n },
  ]);
});

test("the context gate asks about the caller first, then the limit, then the level", () => {
  const objection = { code: "no", problem: "caller", feedback: "No." };
  const change = { level: "admin", max_calls_per_run: 1 };
  const raw = '{"city":"x"}';
  const problems = [
    pass(raw, change, { objection: () => objection, callsOfTool: () => 1 }),
    pass(raw, change, { callsOfTool: () => 1 }),
    pass(raw, change),
    pass(raw, { ...change, level: "write" }),
  ].map(({ refusal }) => refusal?.problem);
  assert.deepEqual(problems, ["caller", "max_calls_per_run", "elevation", undefined]);
});

test("an approval that is lifted for a write is not lifted for an admin tool", () => {
  const { refusal } = pass('{"city":"x"}', { level: "admin", confirm: "never" });
  assert.equal(refusal?.code, "session_not_elevated");
});

test("every refusal speaks the language of the run", () => {
  const zh = { locale: "zh" } as const;
  for (const passage of [
    pass("{", {}, zh),
    pass("{}", {}, zh),
    pass("x", {}, zh, { tooLong: true }),
    pass('{"city":"x"}', { level: "admin" }, zh),
    pass('{"city":"x"}', { max_calls_per_run: 1 }, { ...zh, callsOfTool: () => 1 }),
  ]) {
    assert.match(`${passage.refusal?.feedback}`, /\p{Script=Han}/u);
  }
});

test("a refusal names the parameter that it is about, or the rule", () => {
  const parameters = {
    type: "object",
    properties: {
      list: { type: "array", items: { type: "object", required: ["a/b"] } },
      n: { minimum: 1 },
      s: {},
    },
  };
  const place = (args: object, change: object = {}) => {
    const { refusal } = pass(JSON.stringify(args), { parameters, ...change });
    return [refusal?.problem, refusal?.path, refusal?.rule];
  };
  assert.deepEqual(place({ list: [{}, { "a/b": 1 }] }), ["missing", "/list/0/a~1b", undefined]);
  assert.deepEqual(place({ n: 0 }), ["rule", "/n", undefined]);
  assert.deepEqual(place({ zzz: 0 }), ["unexpected", "", undefined]);
  assert.deepEqual(place({ s: ";" }, { guard: { allow: "letters" } }), ["guard", "/s", undefined]);
  const check = { check: 'args.s != "x"', message: "No." };
  assert.deepEqual(place({ s: "x" }, { rules: [check] }), ["rule", undefined, "1"]);
  assert.deepEqual(place({ s: "x" }, { rules: [{ ...check, name: "no_x" }] }), ["rule", undefined, "no_x"]);
  const long = pass(JSON.stringify({ list: [{ "a/b": 1 }], n: 1 }), {
    parameters: { type: "object", additionalProperties: { type: "integer" } },
  });
  assert.equal(long.refusal?.path, "/list");
});

test("numbers that a double does not hold are written as they came, also where something else was changed", () => {
  const parameters = {
    type: "object",
    properties: { n: { type: "integer" }, name: {}, on: {}, any: {}, list: {} },
  };
  const tool = { parameters, normalize: { name: ["trim"] }, defaults: { on: true } };
  const { args } = pass('{"n":"5","any":1e400,"name":" a ","list":[-0,{"x":0.1e-400},1e400]}', tool);
  assert.equal(
    stringifyJson(args ?? null),
    '{"n":5,"any":1e400,"name":"a","list":[-0,{"x":0.1e-400},1e400],"on":true}',
  );
});

test("what is wrong with a text that is no JSON is said in the language asked for", () => {
  for (const [raw, said] of [
    ['{"city":', "文本不完整"],
    ['{"city":"x"}}', '第 13 个字符处不应出现 "}"'],
    ["[".repeat(65), "嵌套过深"],
  ] as const) {
    const feedback = `${pass(raw, {}, { locale: "zh" }).refusal?.feedback}`;
    assert.ok(feedback.includes(said), feedback);
    assert.doesNotMatch(feedback, /Expected|position|found/);
    assert.ok(feedback.length <= 80, feedback);
  }
});

test("a default of the schema is filled in by nobody", () => {
  const parameters = { type: "object", properties: { n: { type: "integer", default: 7 }, city: {} } };
  assert.deepEqual(pass('{"city":"x"}', { parameters }).args, { city: "x" });
  assert.throws(() => pass("{}", { parameters, defaults: { n: "many" } }), /defaults\.n/);
});
