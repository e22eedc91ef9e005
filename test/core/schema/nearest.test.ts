import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { nearest } from "../../../src/core/schema/nearest.ts";

const TOOLS = ["get_weather", "get_time", "send_email", "searchDocuments", "list-files"];

describe("the nearest names", () => {
  for (const [name, meant] of [
    ["getWeather", "get_weather"],
    ["get_wether", "get_weather"],
    ["weather", "get_weather"],
    ["GET_TIME", "get_time"],
    ["search_documents", "searchDocuments"],
    ["list_file", "list-files"],
    ["sned_email", "send_email"],
  ] as const) {
    it(`of ${name} begin with ${meant}`, () => assert.equal(nearest(name, TOOLS)[0], meant));
  }

  it("of a name that resembles none are none", () => {
    assert.deepEqual(nearest("delete_database", TOOLS), []);
    assert.deepEqual(nearest("x", ["y", "z", "  "]), []);
    assert.deepEqual(nearest("", TOOLS), []);
  });

  it("prefer the one that is written most alike", () => {
    assert.equal(nearest("MB ", ["Mb", "MB", "mb"])[0], "MB");
  });

  it("are at most three of the candidates, and a name that is one of them comes first", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), fc.nat(), (candidates, at) => {
        const name = candidates[at % candidates.length] ?? "";
        const near = nearest(name, candidates);
        assert.ok(near.length <= 3 && near.every((each) => candidates.includes(each)));
        if (name.replace(/[-_.\s]/g, "").length > 0) assert.equal(near[0], name);
      }),
    );
  });

  it("are found in bounded time", () => {
    const long = "ab".repeat(50_000);
    const started = performance.now();
    nearest(
      "a".repeat(100_000),
      Array.from({ length: 10_000 }, () => long),
    );
    assert.ok(performance.now() - started < 5_000);
  });
});
