import assert from "node:assert/strict";
import { test } from "node:test";
import { base64url, generateKeyPair, SignJWT } from "jose";
import { TokenCallers } from "../../src/http/token-callers.ts";
import { type Issuer, startIssuer } from "../support/issuer.ts";

const NAMED = { name: "sub" };
const now = () => Math.floor(Date.now() / 1_000);
const settingsOf = ({ url }: Issuer, claims = {}) => ({
  issuer: url,
  audience: "gateway",
  jwks_url: `${url}/keys`,
  claims: { ...NAMED, ...claims },
});
const part = (value: object) => base64url.encode(JSON.stringify(value));

test("a token says who calls; without mapped claims it is a client that may use what a key may by default", async (t) => {
  const issuer = await startIssuer(t);
  const callers = new TokenCallers(settingsOf(issuer));
  const caller = await callers.callerOf(`Bearer ${await issuer.sign()}`);
  assert.deepEqual(caller, {
    name: "oidc:ann",
    kind: "client",
    maxLevel: "write",
    tools: ["*"],
    mayApprove: false,
    credential: undefined,
  });
  assert.deepEqual(callers.named("oidc:ann"), caller);
  assert.equal(callers.named("oidc:bob"), undefined);
});

test("claims give the name, the user, the role, the tools and the level", async (t) => {
  const issuer = await startIssuer(t);
  const claims = { name: "azp", user: "sub", role: "scope", tools: "tools", max_level: "level" };
  const callers = new TokenCallers(settingsOf(issuer, claims));
  const ask = async (members: object) => callers.callerOf(`Bearer ${await issuer.sign({ ...members })}`);
  assert.deepEqual(
    await ask({ azp: "app", scope: "openid toolweir:approver", tools: ["get_*", 7], level: "admin" }),
    {
      name: "oidc:app",
      kind: "approver",
      maxLevel: "admin",
      tools: ["get_*"],
      mayApprove: true,
      credential: undefined,
      user: "ann",
    },
  );
  const bare = await ask({ azp: "app", scope: ["toolweir:client"] });
  assert.deepEqual([bare?.maxLevel, bare?.tools], ["read", []]);
  for (const scope of [
    undefined,
    "",
    "openid",
    "client",
    "admin",
    "toolweir:root",
    7,
    "toolweir:client toolweir:admin",
  ]) {
    await assert.rejects(() => ask({ azp: "app", scope }), { code: "insufficient_scope" }, String(scope));
  }
  for (const azp of [undefined, "", 7, "a b", "a\nb", "x".repeat(256)]) {
    await assert.rejects(
      () => ask({ azp, scope: "toolweir:client" }),
      { code: "invalid_api_key" },
      String(azp),
    );
  }
});

test("tokens that are forged, over, early or for others all look the same", async (t) => {
  const issuer = await startIssuer(t);
  const callers = new TokenCallers(settingsOf(issuer));
  const good = await issuer.sign();
  const [header, payload, signature] = good.split(".") as [string, string, string];
  const other = await generateKeyPair("ES256");
  const shared = new TextEncoder().encode(JSON.stringify(issuer.publicKey()));
  const confused = new SignJWT({ iss: issuer.url, aud: "gateway", sub: "ann", exp: now() + 60 });
  const tokens = {
    unsigned: `${part({ alg: "none" })}.${payload}.`,
    "unsigned with a signature": `${part({ alg: "none" })}.${payload}.${signature}`,
    "signed with the public key": await confused.setProtectedHeader({ alg: "HS256", kid: "k1" }).sign(shared),
    "another key": await issuer.sign({}, {}, other.privateKey),
    "another payload": `${header}.${part({ iss: issuer.url, aud: "gateway", sub: "eve", exp: now() + 60 })}.${signature}`,
    "no signature": `${header}.${payload}.`,
    "another issuer": await issuer.sign({ iss: "https://evil.example" }),
    "another audience": await issuer.sign({ aud: "others" }),
    "no audience": await issuer.sign({ aud: undefined as never }),
    over: await issuer.sign({ exp: now() - 6 }),
    "without an end": await issuer.sign({ exp: undefined as never }),
    early: await issuer.sign({ nbf: now() + 30 }),
    "unknown key id": await issuer.sign({}, { kid: "../k1" }),
    "no JSON": `eyJ.${payload}.${signature}`,
  };
  for (const [what, token] of Object.entries(tokens)) {
    await assert.rejects(
      async () => callers.callerOf(`Bearer ${token}`),
      { code: "invalid_api_key", message: "The API key is not valid." },
      what,
    );
  }
  assert.equal((await callers.callerOf(`bearer ${good}`))?.name, "oidc:ann");
  for (const value of [
    undefined,
    "",
    "Bearer abc",
    "Bearer tgk_a_b",
    good,
    `Basic ${good}`,
    `Bearer ${good}.x`,
  ]) {
    assert.equal(callers.callerOf(value), undefined, String(value));
  }
});

test("keys are fetched once, a good token is remembered for a while, and a new key is found after the pause", async (t) => {
  const issuer = await startIssuer(t);
  const callers = new TokenCallers(settingsOf(issuer));
  const value = `Bearer ${await issuer.sign()}`;
  await Promise.all([callers.callerOf(value), callers.callerOf(value)]);
  assert.equal(issuer.fetched(), 1);
  assert.ok(!(callers.callerOf(value) instanceof Promise));
  const short = `Bearer ${await issuer.sign({ exp: now() - 4 })}`;
  assert.equal((await callers.callerOf(short))?.name, "oidc:ann");
  await new Promise((done) => setTimeout(done, 2_100));
  await assert.rejects(async () => callers.callerOf(short), { code: "invalid_api_key" });
  await issuer.rotate();
  const renewed = `Bearer ${await issuer.sign()}`;
  await assert.rejects(async () => callers.callerOf(renewed), { code: "invalid_api_key" });
  assert.equal(issuer.fetched(), 1);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 31_000 });
  assert.equal((await callers.callerOf(renewed))?.name, "oidc:ann");
  assert.equal(issuer.fetched(), 2);
});

test("an issuer that does not answer is no fault of the token, and is asked again", async (t) => {
  const issuer = await startIssuer(t);
  const { jwks_url: _, ...found } = settingsOf(issuer);
  for (const settings of [settingsOf(issuer), found]) {
    const callers = new TokenCallers(settings);
    const value = `Bearer ${await issuer.sign()}`;
    issuer.fail(500);
    await assert.rejects(async () => callers.callerOf(value), { code: "not_ready" });
    issuer.fail(undefined);
    assert.equal((await callers.callerOf(value))?.name, "oidc:ann");
  }
  const nowhere = new TokenCallers({ ...found, issuer: "http://127.0.0.1:1" });
  const value = `Bearer ${await issuer.sign()}`;
  await assert.rejects(async () => nowhere.callerOf(value), { code: "not_ready", status: 503 });
});
