import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { GatewayError } from "../../src/errors.ts";
import { Authenticator, type AuthSettings } from "../../src/http/auth.ts";
import { FailureBrake } from "../../src/http/failure-brake.ts";
import { KEYED, OPEN } from "./edge.ts";

const refusal = (code: string) => (error: unknown) => error instanceof GatewayError && error.code === code;

test("a client key opens the client API with its own level and tools, and not the management API", () => {
  const auth = new Authenticator(KEYED);
  for (const value of ["Bearer client-key", "bearer client-key", "BEARER  client-key", "Bearer client-key"]) {
    assert.deepEqual(auth.admit("client", value), {
      name: "app",
      kind: "client",
      maxLevel: "write",
      tools: ["get_*"],
      mayApprove: false,
      credential: undefined,
    });
  }
  assert.throws(() => auth.admit("admin", "Bearer client-key"), refusal("insufficient_scope"));
});

test("the admin key opens both", () => {
  const auth = new Authenticator(KEYED);
  for (const access of ["client", "admin"] as const) {
    assert.equal(auth.admit(access, "Bearer admin-key").kind, "admin");
  }
});

test("no key and a wrong key are told apart, all wrong keys look the same", () => {
  const auth = new Authenticator(KEYED);
  for (const access of ["client", "admin"] as const) {
    for (const value of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Basic YTpi",
      "client-key",
      "Ｂearer client-key",
    ]) {
      assert.throws(() => auth.admit(access, value), refusal("missing_api_key"), String(value));
    }
    for (const value of [
      "Bearer wrong",
      "Bearer client-ke",
      "Bearer client-key2",
      "Bearer client-key x",
      "Bearer *",
    ]) {
      assert.throws(() => auth.admit(access, value), {
        code: "invalid_api_key",
        message: "The API key is not valid.",
      });
    }
  }
});

test("nothing but the keys themselves is admitted", () => {
  const auth = new Authenticator(KEYED);
  fc.assert(
    fc.property(fc.string(), (key) => {
      fc.pre(!["client-key", "admin-key"].includes(key.trim()));
      assert.throws(() => auth.admit("client", `Bearer ${key}`), GatewayError);
    }),
  );
});

test("without any key everything is open, and the credential is kept for the upstream", () => {
  for (const mode of ["none", "keys"] as const) {
    const auth = new Authenticator({ ...OPEN, mode });
    assert.equal(auth.admit("client", "Bearer sk-upstream").credential, "Bearer sk-upstream");
    assert.equal(auth.admit("client", undefined).credential, undefined);
    assert.deepEqual(
      [auth.admit("admin", undefined).kind, auth.admit("admin", undefined).maxLevel],
      ["open", "admin"],
    );
  }
});

test("mode none opens the client API only, and never hands the admin key on", () => {
  const auth = new Authenticator({ adminKey: "admin-key", mode: "none", keys: [] });
  assert.equal(auth.admit("client", "Bearer sk-upstream").maxLevel, "write");
  assert.equal(auth.admit("client", "Bearer admin-key").credential, undefined);
  assert.equal(auth.admit("admin", "Bearer admin-key").kind, "admin");
  assert.throws(() => auth.admit("admin", "Bearer sk-upstream"), refusal("invalid_api_key"));
  assert.throws(() => auth.admit("admin", undefined), refusal("missing_api_key"));
});

test("client keys without an admin key close the client API and leave the management open", () => {
  const auth = new Authenticator({ ...KEYED, adminKey: undefined });
  assert.throws(() => auth.admit("client", undefined), refusal("missing_api_key"));
  assert.equal(auth.admit("client", "Bearer client-key").name, "app");
  assert.equal(auth.admit("admin", undefined).kind, "open");
});

test("an admin key alone in mode keys closes everything to everybody else", () => {
  const auth = new Authenticator({ adminKey: "admin-key", mode: "keys", keys: [] });
  assert.throws(() => auth.admit("client", undefined), refusal("missing_api_key"));
  assert.equal(auth.admit("client", "Bearer admin-key").kind, "admin");
});

test("the memory of valid headers stays right when it is full", () => {
  const keys = Array.from({ length: 1_500 }, (_, at) => ({
    name: `n${at}`,
    key: `k${at}`,
    max_level: "read",
    tools: [],
  }));
  const auth = new Authenticator({ adminKey: undefined, mode: "keys", keys } as AuthSettings);
  for (const { key, name } of [...keys, ...keys.slice(0, 10)]) {
    assert.equal(auth.admit("client", `Bearer ${key}`).name, name);
  }
});

test("the 51st refused key of a minute is 429 until the minute is over, for that address alone", () => {
  let now = 0;
  const brake = new FailureBrake(() => now);
  for (let times = 0; times < 50; times++) brake.failed("a");
  now = 20_500;
  assert.throws(
    () => brake.failed("a"),
    (error: unknown) =>
      refusal("rate_limit_exceeded")(error) &&
      (error as GatewayError).options.headers?.["retry-after"] === "40",
  );
  brake.failed("b");
  now = 60_000;
  brake.failed("a");
});

test("more addresses than the brake remembers make it forget, not grow", () => {
  const brake = new FailureBrake(() => 0);
  for (let times = 0; times < 50; times++) brake.failed("a");
  for (let at = 0; at < 10_000; at++) brake.failed(`x${at}`);
  brake.failed("a");
});

test("a caller is found by name as long as there is a key of it, or nobody needs one", () => {
  const auth = new Authenticator({
    ...KEYED,
    keys: [{ ...KEYED.keys[0], name: "app", key: "k", max_level: "read", tools: [], approve: true }],
  });
  assert.deepEqual([auth.named("app")?.maxLevel, auth.named("app")?.mayApprove], ["read", true]);
  assert.deepEqual([auth.named("admin")?.kind, auth.named("admin")?.mayApprove], ["admin", true]);
  assert.deepEqual([auth.named("gone"), auth.named("anonymous")], [undefined, undefined]);
  const open = new Authenticator({ adminKey: undefined, mode: "none", keys: [] });
  assert.deepEqual([open.named("anonymous")?.mayApprove, open.named("admin")], [true, undefined]);
  const half = new Authenticator({ adminKey: "a", mode: "none", keys: [] });
  assert.equal(half.named("anonymous")?.mayApprove, false);
});
