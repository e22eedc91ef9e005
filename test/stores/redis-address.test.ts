import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress } from "../../src/stores/redis/address.ts";
import { StoreError } from "../../src/stores/store-error.ts";

test("one server, by name or address, with and without port, user, database and TLS", () => {
  const single = { kind: "single", port: 6379, db: 0, tls: false };
  assert.deepEqual(readAddress("redis://cache.example"), { ...single, host: "cache.example" });
  assert.deepEqual(readAddress("redis://127.0.0.1:7000/3"), {
    ...single,
    host: "127.0.0.1",
    port: 7000,
    db: 3,
  });
  assert.deepEqual(readAddress("valkey://[::1]:7000/"), { ...single, host: "::1", port: 7000 });
  assert.deepEqual(readAddress("rediss://me:p%40ss:word@h"), {
    ...single,
    host: "h",
    tls: true,
    username: "me",
    password: "p@ss:word",
  });
  assert.deepEqual(readAddress("redis://:secret@h"), { ...single, host: "h", password: "secret" });
});

test("sentinels have the name of a master, and clusters several nodes", () => {
  assert.deepEqual(readAddress("redis+sentinel://:pw@a,b:26380/mymaster/2"), {
    kind: "sentinel",
    nodes: [
      { host: "a", port: 26_379 },
      { host: "b", port: 26_380 },
    ],
    name: "mymaster",
    db: 2,
    tls: false,
    password: "pw",
  });
  assert.deepEqual(readAddress("valkeys+cluster://a:1,b:2"), {
    kind: "cluster",
    nodes: [
      { host: "a", port: 1 },
      { host: "b", port: 2 },
    ],
    tls: true,
  });
});

test("what cannot be read is refused without being repeated", () => {
  const wrong = [
    "redis://",
    "redis://h:0",
    "redis://h:99999",
    "redis://h/x",
    "redis://h/1/2",
    "redis://a,b",
    "redis+sentinel://a",
    "redis+sentinel://a/m/0/1",
    "redis+cluster://a/1",
    "redis+other://a",
    "redis://%zz:hunter2@h",
    "redis://hunter2@h?x=1",
    "http://hunter2@h",
  ];
  for (const url of wrong) {
    const refused = (error: unknown) => error instanceof StoreError && !/hunter2|%zz/.test(error.message);
    assert.throws(() => readAddress(url), refused, url);
  }
});
