import assert from "node:assert/strict";
import { test } from "node:test";
import type { Passage, RemoteAnswer } from "../../../src/engine/gates/gate.ts";
import { pass, passLater } from "../../support/gates.ts";

const TRIP = {
  parameters: {
    type: "object",
    properties: {
      city: { type: "string", enum: ["北京", "上海"] },
      start: { type: "string", format: "date" },
      end: { type: "string", format: "date" },
      count: { type: "integer", minimum: 1 },
      unit: { type: "string" },
      note: { type: "string", maxLength: 10 },
    },
    required: ["city"],
  },
  normalize: {
    city: ["trim", { strip_suffix: ["市"] }],
    start: ["date"],
    end: ["date"],
    count: ["chinese_number"],
    note: [{ map: { short: "far too long for it" } }],
  },
  defaults: { unit: "celsius" },
  rules: [
    {
      name: "order",
      when: "has(args.start) && has(args.end)",
      check: "args.start <= args.end",
      message: { en: "The end is before the start.", zh: "结束早于开始。" },
    },
    {
      name: "future",
      when: "has(args.start)",
      check: "date(args.start) >= now",
      message: "Not in the past.",
    },
  ],
};

const gatesOf = ({ verdicts }: Passage) => verdicts.map(({ gate, pass: passed }) => `${gate} ${passed}`);
const changesOf = ({ verdicts }: Passage, gate: string) => {
  const verdict = verdicts.find((each) => each.gate === gate);
  return verdict?.pass ? (verdict.changes ?? []) : [];
};

test("what the schema accepts is normalised and filled in by the rules gate, which says so", () => {
  const passage = pass('{"city":"北京","unit":"kelvin"}', {
    ...TRIP,
    normalize: { unit: ["upper"] },
    defaults: { count: 1 },
  });
  assert.deepEqual(passage.args, { city: "北京", unit: "KELVIN", count: 1 });
  assert.deepEqual(changesOf(passage, "schema"), []);
  assert.deepEqual(changesOf(passage, "rules"), [
    { path: "/unit", from: "kelvin", to: "KELVIN", by: "normalize" },
    { path: "/count", to: 1, by: "defaults" },
  ]);
});

test("what only fits the schema once it is normalised passes the schema gate, which says what it changed", () => {
  const passage = pass('{"city":" 北京市","count":"三","start":"2026年2月1日"}', TRIP);
  assert.deepEqual(gatesOf(passage), ["syntax true", "schema true", "rules true", "context true"]);
  assert.deepEqual(passage.args, { city: "北京", count: 3, start: "2026-02-01", unit: "celsius" });
  assert.deepEqual(changesOf(passage, "schema"), [
    { path: "/city", from: " 北京市", to: "北京", by: "normalize" },
    { path: "/start", from: "2026年2月1日", to: "2026-02-01", by: "normalize" },
    { path: "/count", from: "三", to: 3, by: "normalize" },
  ]);
  assert.deepEqual(changesOf(passage, "rules"), [{ path: "/unit", to: "celsius", by: "defaults" }]);
});

test("normalising and coercion go together", () => {
  const passage = pass('{"city":"上海市","count":"5","unit":null}', TRIP);
  assert.deepEqual(passage.args, { city: "上海", count: 5, unit: "celsius" });
});

test("what does not fit after normalising either is told in terms of what the model sent", () => {
  const { refusal } = pass('{"city":"北京市","count":"三点五"}', TRIP);
  assert.deepEqual([refusal?.gate, refusal?.problem], ["schema", "type"]);
  assert.match(`${refusal?.feedback}`, /"count" must be an integer, but you sent the string "三点五"/);
});

test("a problem that normalising cannot solve is the one that is told", () => {
  const { refusal } = pass('{"city":"Oslo市","count":"三"}', TRIP);
  assert.deepEqual([refusal?.gate, refusal?.problem], ["schema", "enum"]);
  assert.match(`${refusal?.feedback}`, /Oslo市/);
});

test("a valid value that normalising makes invalid is refused, and the model is told why", () => {
  const passage = pass('{"city":"北京","note":"short"}', TRIP);
  assert.deepEqual(gatesOf(passage), ["syntax true", "schema true", "rules false"]);
  assert.deepEqual([passage.refusal?.code, passage.refusal?.problem], ["arguments_invalid", "normalise"]);
  assert.match(
    `${passage.refusal?.feedback}`,
    /In the form that this tool needs.*"note" must have at most 10/,
  );
});

test("the conditions are asked in their order, each in the language of the run", () => {
  const told = (raw: string, locale: "en" | "zh") => pass(raw, TRIP, { locale }).refusal?.feedback;
  const reversed = '{"city":"北京","start":"2025/3/1","end":"2025/2/1"}';
  assert.equal(told(reversed, "en"), "The end is before the start.");
  assert.equal(told(reversed, "zh"), "结束早于开始。");
  assert.equal(told('{"city":"北京","start":"2025-03-01"}', "zh"), "Not in the past.");
  assert.equal(told('{"city":"北京","start":"2026-01-03"}', "en"), undefined);
  const { refusal } = pass(reversed, TRIP);
  assert.deepEqual([refusal?.gate, refusal?.code, refusal?.problem], ["rules", "rule_violated", "rule"]);
});

test("a condition that cannot be evaluated refuses the call and says why", () => {
  const rules = [{ name: "cheap", check: "args.count < 5", message: "Too many." }];
  for (const locale of ["en", "zh"] as const) {
    const { refusal } = pass('{"city":"北京"}', { ...TRIP, rules }, { locale });
    assert.deepEqual([refusal?.gate, refusal?.problem], ["rules", "rule"]);
    assert.match(`${refusal?.feedback}`, /cheap.*No such key: count/);
  }
});

test("conditions know the caller, the session and the time", () => {
  const rules = [
    { check: 'caller.name == "app" && caller.level == "write"', message: "caller" },
    { check: 'session.id == "s1"', message: "session" },
    { check: 'now == timestamp("2026-01-02T00:00:00Z")', message: "now" },
  ];
  assert.equal(pass('{"city":"北京"}', { ...TRIP, rules }).refusal, undefined);
});

test("the guard names the character and the parameter", () => {
  const guarded = { ...TRIP, guard: { allow: "letters digits -", except: ["note"] } };
  const { refusal } = pass('{"city":"北京","unit":"a;b","note":"a;b"}', guarded);
  assert.deepEqual([refusal?.code, refusal?.problem], ["arguments_invalid", "guard"]);
  assert.match(`${refusal?.feedback}`, /"unit" must not hold the character ";" \(U\+003B\)/);
  assert.match(
    `${pass('{"city":"北京","unit":"a\\u0000"}', guarded).refusal?.feedback}`,
    /character U\+0000\./,
  );
  assert.match(
    `${pass('{"city":"北京","unit":"a b"}', guarded, { locale: "zh" }).refusal?.feedback}`,
    /“unit”.*U\+0020/,
  );
});

test("a parameter that is a path stays inside of its folder", () => {
  const guarded = { ...TRIP, guard: { paths: ["unit"] } };
  for (const [unit, said] of [
    ["../x", /"\.\."/],
    ["/etc", /absolute/],
    ["a\\u0000b", /NUL/],
  ] as const) {
    assert.match(`${pass(`{"city":"北京","unit":"${unit}"}`, guarded).refusal?.feedback}`, said);
  }
});

const ASKING = { ...TRIP, rules: [{ url: "https://rules.example/", when: "has(args.count)" }] };
const answered = async (answer: RemoteAnswer, change: object = {}) => {
  const asked: unknown[] = [];
  const passage = await passLater(
    '{"city":"北京市","count":2}',
    { ...ASKING, ...change },
    {
      ask: async (rule, args) => {
        asked.push([rule.url, args]);
        return answer;
      },
    },
  );
  return { ...passage, asked };
};

test("a service is asked about the arguments in their final form, and the gates after it go on", async () => {
  const passage = await answered({ ok: true });
  assert.deepEqual(passage.asked, [["https://rules.example/", { city: "北京", count: 2, unit: "celsius" }]]);
  assert.deepEqual(gatesOf(passage), ["syntax true", "schema true", "rules true", "context true"]);
  assert.deepEqual(passage.args, { city: "北京", count: 2, unit: "celsius" });
});

test("what a service says is told to the model, shortened, unless the rule has a message of its own", async () => {
  const { refusal } = await answered({ ok: false, message: "No room. ".repeat(100) });
  assert.deepEqual([refusal?.code, refusal?.problem], ["rule_violated", "remote"]);
  assert.equal(refusal?.feedback.length, 500);
  const own = await answered(
    { ok: false, message: "x" },
    { rules: [{ url: "https://rules.example/", message: "Full." }] },
  );
  assert.equal(own.refusal?.feedback, "Full.");
  const mute = await answered({ ok: false, message: { not: "a text" } });
  assert.match(`${mute.refusal?.feedback}`, /does not allow these arguments/);
});

test("a service that cannot be asked refuses the call", async () => {
  const { refusal, verdicts } = await answered(undefined);
  assert.deepEqual([refusal?.code, refusal?.problem], ["check_unavailable", "remote"]);
  assert.equal(verdicts.length, 3);
});

test("no service is asked where its condition does not hold, or an earlier rule refuses", () => {
  const context = { ask: () => assert.fail("asked") };
  assert.equal(pass('{"city":"北京"}', ASKING, context).refusal, undefined);
  const guarded = { ...ASKING, guard: { allow: "digits" } };
  assert.equal(pass('{"city":"北京","count":2}', guarded, context).refusal?.problem, "guard");
});
