import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ask, complete, send, stream } from "./support/client.ts";
import { startGateway } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { scriptedUpstream, streamed, whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

test("the first glob that matches the model chooses the upstream, and each gets its own key", async (t) => {
  const [main, coder, local] = [
    await scriptedUpstream(t),
    await scriptedUpstream(t),
    await scriptedUpstream(t),
  ];
  const yaml = `
upstreams:
  - { name: main, base_url: "${main.baseUrl}", api_key: key-for-main }
  - { name: coder, base_url: "${coder.baseUrl}", api_key: key-for-coder }
  - { name: local, base_url: "${local.baseUrl}" }
models:
  - { match: "qwen*-coder", upstream: coder }
  - { match: "qwen*", upstream: local }
`;
  const gateway = await startGateway(t, { yaml });
  const expected = { "qwen3-coder": coder, "qwen3-max": local, "gpt-x": main };
  for (const [model, upstream] of Object.entries(expected)) {
    upstream.script(model, [streamed({ text: model })]);
    assert.equal((await stream(gateway, ask(model))).content, model);
  }
  const keys = [main, coder, local].map(({ requests }) =>
    requests.map(({ headers }) => headers.authorization),
  );
  assert.deepEqual(keys, [["Bearer key-for-main"], ["Bearer key-for-coder"], [undefined]]);
});

test("a fallback answers where the first upstream fails before the first byte", async (t) => {
  const [main, backup] = [await scriptedUpstream(t), await scriptedUpstream(t)];
  const yaml = `
upstreams:
  - { name: main, base_url: "${main.baseUrl}", retry: 0, fallback: [backup] }
  - { name: backup, base_url: "${backup.baseUrl}", retry: 0 }
`;
  const gateway = await startGateway(t, { yaml });
  backup.script("m", [streamed(ANSWERS)]);
  for (const status of [429, 500, 503]) {
    main.script("m", [json({ error: { message: "no" } }, status)]);
    const seen = await stream(gateway, ask("m"));
    assert.equal(seen.content, "It is sunny.");
    const { rounds } = (await (
      await send(gateway, `/runs/${seen.headers.get("x-toolweir-run-id")}`, undefined, {}, "GET")
    ).json()) as { rounds: { upstream: string }[] };
    assert.deepEqual(
      rounds.map(({ upstream }) => upstream),
      ["backup"],
    );
  }
  main.script("m", [json({ error: { message: "bad request" } }, 400)]);
  assert.equal((await complete(gateway, ask("m"))).status, 400, "a refusal is final");
  await main.close();
  assert.equal((await stream(gateway, ask("m"))).content, "It is sunny.");
});

test("a compressed upstream answer is read, streamed and not", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  const zip = (turn: ReturnType<typeof whole>) => ({
    headers: { ...turn.headers, "content-encoding": "gzip" },
    body: [gzipSync((turn.body ?? []).join(""))],
  });
  upstream.script("m", [zip(streamed(ASKS)), zip(streamed(ANSWERS))]);
  const seen = await stream(gateway, ask("m"));
  assert.equal(seen.content, "Let me look. It is sunny.");
  upstream.script("m", [zip(whole(ASKS)), zip(whole(ANSWERS))]);
  const { body, headers } = await complete(gateway, ask("m"));
  assert.equal(body.choices[0].message.content, "Let me look. It is sunny.");
  assert.equal(headers.get("content-encoding"), null);
});
