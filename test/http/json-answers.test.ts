import assert from "node:assert/strict";
import { test } from "node:test";
import { createEdge } from "./edge.ts";

test("an answer has every digit of an integer that JavaScript's numbers cannot hold", async () => {
  const { app } = createEdge();
  const record = {
    gates: [{ gate: "schema", changes: [{ path: "/id", from: "1", to: 12345678901234567890n }] }],
  };
  app.get("/record", { config: { access: "public" } }, () => record);
  const { statusCode, headers, body } = await app.inject("/record");
  assert.deepEqual([statusCode, headers["content-type"]], [200, "application/json; charset=utf-8"]);
  assert.equal(
    body,
    '{"gates":[{"gate":"schema","changes":[{"path":"/id","from":"1","to":12345678901234567890}]}]}',
  );
});

test("members without a value are left out, as JSON asks", async () => {
  const { app } = createEdge();
  app.get("/record", { config: { access: "public" } }, () => ({ a: undefined, b: null, at: new Date(0) }));
  assert.equal((await app.inject("/record")).body, '{"b":null,"at":"1970-01-01T00:00:00.000Z"}');
});
