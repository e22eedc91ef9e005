import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isoDate } from "../../../src/core/rules/iso-date.ts";

for (const text of [
  "2024/01/01",
  "2024-1-1",
  "2024.1.01",
  "2024年1月1日",
  "二〇二四年一月一日",
  "二零二四年1月一号",
  "2024 年 1 月 1 号",
  "2024年01月01",
  "20240101",
  "２０２４/１/１",
  " 2024-01-01 ",
]) {
  test(`${text} is the first day of 2024`, () => assert.equal(isoDate(text), "2024-01-01"));
}

for (const text of [
  "2024/13/01",
  "2023-02-29",
  "2024-02-30",
  "01/02/2024",
  "24-1-1",
  "2024-1",
  "2024/1/1 10:00",
  "tomorrow",
  "",
  "2024-0-1",
]) {
  test(`"${text}" is no date`, () => assert.equal(isoDate(text), undefined));
}

test("every day of the calendar comes back from each way to write it, and a date from itself", () => {
  const day = fc.date({
    min: new Date("1000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(day, (date) => {
      const iso = date.toISOString().slice(0, 10);
      const [year, month, of] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
      const forms = [
        `${year}/${month}/${of}`,
        `${year}-${month}-${of}`,
        `${year}年${month}月${of}日`,
        iso.replaceAll("-", ""),
        iso,
      ];
      for (const form of forms) assert.equal(isoDate(form), iso, form);
    }),
  );
});
