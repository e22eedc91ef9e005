import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, readEvents, send, stream } from "./support/client.ts";
import type { Turn } from "./support/scripted-server.ts";
import { chunk, sse } from "./support/upstream.ts";
import { startWorld } from "./support/world.ts";

const YAML = "keepalive: { every_ms: 60 }\nupstreams: [{ name: main, retry: 0 }]";

const late = (status: number, headers: Record<string, string> = {}): Turn => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  wait: 300,
  body: ['{"error":{"message":"No.","type":"t","code":"c"}}'],
});

for (const status of [401, 429, 503]) {
  test(`a status of ${status} that comes long after the first keepalive was due is the status of the answer`, async (t) => {
    const { upstream, gateway } = await startWorld(t, [], { yaml: YAML });
    upstream.script("m", [late(status, { "retry-after": "7" })]);
    const answer = await send(gateway, "/v1/chat/completions", ask("m"));
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("retry-after"), "7");
    const body = (await answer.json()) as { error: { code: string } };
    assert.equal(body.error.code, "c");
  });
}

test("a model server that has begun its stream and then says nothing is covered by keepalives", async (t) => {
  const { upstream, gateway } = await startWorld(t, [], { yaml: YAML });
  upstream.script("m", [sse(300, chunk({ content: "Hi." }), chunk({}, "stop"), "data: [DONE]\n\n")]);
  const seen = await stream(gateway, ask("m"));
  assert.ok(seen.comments.length >= 2, `${seen.comments.length} comments`);
  assert.ok(seen.text.startsWith(": keep-alive\n\n"));
  assert.equal(readEvents(seen.text).content, "Hi.");
});
