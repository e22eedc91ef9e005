import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chineseNumber } from "../../../src/core/rules/chinese-number.ts";

const DIGITS = "零一二三四五六七八九";

/** A number below 10,000 as it is written inside of a larger one. */
function group(value: number): string {
  const digits = String(value).padStart(4, "0");
  const text = [...digits]
    .map((digit, at) => (digit === "0" ? "零" : `${DIGITS[Number(digit)]}${"千百十 "[at]}`))
    .join("");
  return text.replace(/零+/g, "零").replace(/^零|零$| /g, "");
}

/** The everyday numeral of 0 to 99,999,999. */
function numeral(value: number): string {
  if (value === 0) return "零";
  const [high, low] = [Math.floor(value / 10_000), value % 10_000];
  const gap = high > 0 && low > 0 && low < 1_000 ? "零" : "";
  const text = (high > 0 ? `${group(high)}万` : "") + gap + (low > 0 ? group(low) : "");
  return text.replace(/^一十/, "十");
}

test("every numeral from 0 to 20,000 is read back", () => {
  for (let value = 0; value <= 20_000; value++)
    assert.equal(chineseNumber(numeral(value)), value, numeral(value));
});

test("numerals up to 99,999,999 are read back, in everyday, formal and traditional characters", () => {
  const formal: Readonly<Record<string, string>> = Object.fromEntries(
    [..."零〇一壹二贰三叁四肆五伍六陆七柒八捌九玖十拾百佰千仟万萬".matchAll(/(.)(.)/gu)].map((pair) => [
      pair[1],
      pair[2],
    ]),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999 }), (value) => {
      const text = numeral(value);
      assert.equal(chineseNumber(text), value);
      assert.equal(chineseNumber(text.replace(/./gu, (character) => formal[character] ?? character)), value);
      assert.equal(chineseNumber(`负${text}`), value === 0 ? 0 : -value);
    }),
  );
});

for (const [text, value] of [
  ["三", 3],
  ["十", 10],
  ["十二", 12],
  ["二十", 20],
  ["二百五", 250],
  ["二百五十", 250],
  ["二百零五", 205],
  ["两千零三", 2003],
  ["三千五", 3500],
  ["一万二", 12_000],
  ["一万零二", 10_002],
  ["一亿二", 120_000_000],
  ["一万亿", 1_000_000_000_000],
  ["三点五", 3.5],
  ["零点零五", 0.05],
  ["二〇二四", 2024],
  ["１２", 12],
  ["－３．５", -3.5],
  ["35万", 350_000],
  ["3.5万", 35_000],
  ["1.00001万", 10_000.1],
  ["3千5百", 3500],
  [" 七 ", 7],
  ["九千零七万一千九百九十二亿五千四百七十四万零九百九十三", 9007199254740993n],
] as const) {
  test(`${text} is ${value}`, () => assert.equal(chineseNumber(text), value));
}

for (const text of [
  "",
  "百",
  "十千",
  "一百一百",
  "三三点",
  "点五",
  "三点",
  "三点五点六",
  "一零百",
  "abc",
  "三个",
  "半",
  "12百",
  "万",
  "五".repeat(65),
]) {
  test(`"${text.slice(0, 10)}" is no numeral`, () => assert.equal(chineseNumber(text), undefined));
}

test("whatever the text, a number or nothing comes of it, in no time", () => {
  const characters = fc.constantFrom(..."零一二两三十百千万亿点负3９.x ");
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 64 }), (text) => {
      const value = chineseNumber(text);
      assert.ok(value === undefined || typeof value === "bigint" || Number.isFinite(value));
    }),
  );
});
