import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolLevel } from "../../../src/core/tool.ts";
import { TemplateError } from "../../../src/core/tool-template.ts";
import type { ToolErrorKind, ToolOutcomeResult } from "../../../src/engine/calls/attempt.ts";
import { ToolFailure } from "../../../src/engine/ports/tools.ts";
import type { Locale } from "../../../src/engine/results/result-text.ts";
import { toToolMessage } from "../../../src/engine/results/results.ts";
import { toolOf } from "../../outbound/tool-fixture.ts";

function errorOf(
  outcome: Partial<ToolOutcomeResult>,
  locale: Locale = "en",
  level: ToolLevel = "read",
): string {
  const whole = { attempts: 1, durationMs: 1, ...outcome };
  const said = toToolMessage({ id: "c", name: "t" }, whole, toolOf({}, { level, timeout_ms: 300 }), {
    locale,
  });
  assert.equal(said.ok, false);
  assert.equal(said.errorKind, outcome.errorKind);
  return JSON.parse(said.content).error;
}

function answered(status: number, errorKind: ToolErrorKind, body = "", contentType = "application/json") {
  const reply = { status, contentType, body: Buffer.from(body), truncated: false, retryAfterMs: undefined };
  return { reply, errorKind };
}

const failed = (kind: ToolFailure["kind"], errorKind: ToolErrorKind, message = "m", cause?: Error) => ({
  failure: new ToolFailure(kind, message, { cause }),
  errorKind,
});

for (const [body, said] of [
  ['{"success":false,"error":"No such city"}', "No such city."],
  ['{"error":{"message":"Bad id!","type":"x"}}', "Bad id!"],
  ['{"error":true,"message":"Bad"}', "Bad."],
  ['{"detail":[{"loc":["q"]}]}', '[{"loc":["q"]}].'],
  ['{"title":"Gone"}', "Gone."],
  ['"just text"', "just text."],
  ['{"code":12345678901234567890}', '{"code":12345678901234567890}.'],
  ["plain", "plain."],
  ["x".repeat(600), `${"x".repeat(500)}…`],
] as const) {
  test(`the tool's own message is told: ${said.slice(0, 30)}`, () => {
    const error = errorOf(answered(404, "business", body));
    assert.ok(
      error.startsWith(`The tool answered with HTTP status 404: ${said} Do not repeat the call unchanged`),
      error,
    );
  });
}

test("an HTML page, a picture or nothing is not quoted", () => {
  for (const [body, type] of [
    ["<!DOCTYPE html><p>x", "text/html"],
    ["GIF89a", "image/gif"],
    ["", ""],
  ] as const) {
    const error = errorOf(answered(502, "transient", body, type));
    assert.equal(error, "The tool answered with HTTP status 502. Try again later or go on without it.");
  }
});

test("every kind of failure says what happened and what to do next", () => {
  const argument = new TemplateError("missing", "id", 'Parameter "id" is missing.');
  for (const [outcome, en, zh] of [
    [answered(500, "transient", "oops"), /status 500: oops\. Try again later/, /状态 500：oops。请稍后再试/],
    [answered(403, "permission"), /status 403\. .*access is missing/, /状态 403。.*缺少权限/],
    [answered(302, "permanent"), /redirect \(HTTP status 302\)/, /重定向（HTTP 状态 302）/],
    [failed("timeout", "timeout"), /timed out after 300 ms/, /300 毫秒后超时/],
    [failed("cancelled", "cancelled"), /cancelled/, /已取消/],
    [
      failed("unreachable", "transient", "ECONNREFUSED"),
      /could not be reached \(ECONNREFUSED, attempts: 1/,
      /无法连接/,
    ],
    [failed("interrupted", "transient"), /connection to the tool broke/, /连接中断/],
    [
      failed("invalid_request", "permanent", "Only https."),
      /^Only https\. Do not repeat/,
      /^无法发送请求：Only https\./,
    ],
    [
      failed("invalid_request", "argument", argument.message, argument),
      /^Parameter "id" is missing\. Correct/,
      /^缺少参数“id”。请更正/,
    ],
  ] as const) {
    assert.match(errorOf(outcome), en);
    assert.match(errorOf(outcome, "zh"), zh);
  }
});

test("attempts are counted aloud", () => {
  assert.match(errorOf({ ...answered(503, "transient"), attempts: 3 }), /status 503 after 3 attempts\./);
});

test("the model is warned where a write may have happened", () => {
  const warning = /may have been carried out/;
  for (const [outcome, warned] of [
    [failed("timeout", "timeout"), true],
    [failed("interrupted", "transient"), true],
    [failed("cancelled", "cancelled"), true],
    [failed("unreachable", "transient"), false],
    [answered(502, "transient"), true],
    [answered(302, "permanent"), true],
    [answered(408, "transient"), true],
    [answered(429, "transient"), true],
    [answered(409, "business"), true],
    [answered(404, "business"), false],
    [answered(422, "business"), false],
  ] as const) {
    assert.equal(warning.test(errorOf(outcome, "en", "write")), warned);
    assert.doesNotMatch(errorOf(outcome), warning);
  }
});
