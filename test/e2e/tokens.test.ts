import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { startIssuer } from "../support/issuer.ts";
import { ask, complete, send } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

const ADMIN = { authorization: "Bearer admin-key-0123456789" };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test("a token of the issuer opens what its role says, and goes nowhere", async (t) => {
  const issuer = await startIssuer(t);
  const yaml = `auth: { oidc: { issuer: "${issuer.url}", audience: gateway, claims: { role: scope, tools: tools } } }`;
  const { gateway, upstream, tools } = await startWorld(t, [], {
    yaml,
    env: { TOOLWEIR_ADMIN_KEY: "admin-key-0123456789" },
  });
  for (const name of ["get_weather", "other"])
    await registerTool(gateway, name, { url: tools.urlOf(name) }, ADMIN);
  const token = await issuer.sign({ scope: "openid toolweir:client", tools: "get_*" });
  upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: token, maxRetries: 0 });
  const answer = await client.chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "Go." }],
  });
  assert.equal(answer.choices[0]?.message.content, "Let me look. It is sunny.");
  const offered = (upstream.requests[0]?.body.tools ?? []) as { function: { name: string } }[];
  assert.deepEqual(
    offered.map((tool) => tool.function.name),
    ["get_weather"],
  );
  assert.ok(!JSON.stringify([upstream.requests.map(({ headers }) => headers)]).includes(token));

  const codeOf = async (value: string) => (await complete(gateway, ask("m"), bearer(value))).body.error.code;
  assert.equal((await complete(gateway, ask("m"))).status, 401);
  assert.equal(await codeOf(`${token.slice(0, -6)}AAAAAA`), "invalid_api_key");
  assert.equal(await codeOf(await issuer.sign()), "insufficient_scope");
  const keeper = await issuer.sign({ scope: "toolweir:tools_admin" });
  assert.equal(await codeOf(keeper), "insufficient_scope");
  const list = (value: string, path = "/tools") => send(gateway, path, undefined, bearer(value), "GET");
  assert.deepEqual(
    [(await list(token)).status, (await list(keeper)).status, (await list(keeper, "/nowhere")).status],
    [403, 200, 404],
  );
});

test("wrong tokens are braked as wrong keys are", async (t) => {
  const issuer = await startIssuer(t);
  const yaml = `auth: { oidc: { issuer: "${issuer.url}", audience: gateway } }`;
  const { gateway, upstream } = await startWorld(t, [], { yaml });
  const wrong = bearer(await issuer.sign({ aud: "others" }));
  const seen = new Set<number>();
  for (let n = 0; n < 60; n++) seen.add((await complete(gateway, ask("m"), wrong)).status);
  assert.deepEqual([...seen], [401, 429]);
  upstream.script("m", [whole(ANSWERS)]);
  assert.equal((await complete(gateway, ask("m"), bearer(await issuer.sign()))).status, 200);
});
