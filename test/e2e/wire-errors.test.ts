import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI, { APIError } from "openai";
import { ask, complete, send, stream } from "./support/client.ts";
import type { Turn } from "./support/scripted-server.ts";
import { json } from "./support/tool-server.ts";
import { frame, frames, sse, streamed } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld, type World } from "./support/world.ts";

const NO_RETRY = { yaml: "upstreams: [ { name: main, retry: 0 } ]" };
const start = (t: Parameters<typeof startWorld>[0]) => startWorld(t, ["get_weather"], NO_RETRY);

/** Beginnings of replies that end without a finish reason or turn into something else. */
const BROKEN: Readonly<Record<string, Turn>> = {
  "the end without a finish reason": sse(...frames(ANSWERS).slice(0, 3)),
  "[DONE] without a finish reason": sse(...frames(ANSWERS).slice(0, 3), frame("[DONE]")),
  "an event that is no JSON": sse(...frames(ANSWERS).slice(0, 3), "data: {oops\n\n"),
  "an error event": sse(
    ...frames(ANSWERS).slice(0, 3),
    frame({ error: { message: "overloaded", code: 500 } }),
  ),
  "a broken connection": { ...sse(...frames(ANSWERS).slice(0, 3)), end: "reset" },
};

/** Replies that are wrong from their first byte. */
const WRONG: Readonly<Record<string, Turn>> = {
  "an HTML page": { headers: { "content-type": "text/html" }, body: ["<html><body>Hello</body></html>"] },
  "an empty body": { body: [] },
  "an empty event stream": sse(),
  "an error event first": sse(frame({ error: { message: "overloaded" } })),
  "an event that is no JSON first": sse("data: {oops\n\n"),
};

const sdk = ({ gateway }: World) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "sk-client", maxRetries: 0 });

async function readWithSdk(world: World, model: string): Promise<void> {
  const messages = [{ role: "user" as const, content: "Go." }];
  for await (const _ of await sdk(world).chat.completions.create({ model, messages, stream: true }));
}

test("an error after the first byte is one chunk with an error, then [DONE]; the openai SDK raises it", async (t) => {
  const world = await start(t);
  for (const [name, turn] of Object.entries(BROKEN)) {
    world.upstream.script("m", [turn]);
    const { chunks, error, finish } = await stream(world.gateway, ask("m"));
    assert.equal(finish, null, `${name}: no silent stop`);
    assert.equal(chunks.filter((chunk) => chunk.error).length, 1, name);
    assert.equal(chunks.at(-1)?.error, error, `${name}: the error is the last chunk`);
    assert.equal(typeof error?.message, "string", name);
    assert.equal(typeof error?.code, "string", name);
    await assert.rejects(readWithSdk(world, "m"), (raised) => raised instanceof APIError, name);
  }
});

test("an error before the first byte is a status with error JSON, streamed or not; the openai SDK raises it", async (t) => {
  const world = await start(t);
  for (const [name, turn] of Object.entries(WRONG)) {
    world.upstream.script("m", [turn]);
    for (const streaming of [true, false]) {
      const response = await send(world.gateway, "/v1/chat/completions", ask("m", { stream: streaming }));
      assert.equal(response.status, 502, name);
      assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
      assert.ok(response.headers.get("x-toolweir-run-id"), name);
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      assert.deepEqual(Object.keys(error).toSorted(), ["code", "message", "param", "type"], name);
      assert.equal(error["type"], "api_error", name);
    }
    await assert.rejects(readWithSdk(world, "m"), (raised) => raised instanceof APIError, name);
  }
});

test("the upstream's own status and retry-after reach the client", async (t) => {
  const world = await start(t);
  for (const status of [400, 404, 422, 429, 500, 503]) {
    const error = { message: `status ${status} of the upstream`, type: "some_type", code: "some_code" };
    world.upstream.script("m", [json({ error }, status, { "retry-after": "7" })]);
    const answer = await complete(world.gateway, ask("m"));
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("retry-after"), "7");
    assert.match(answer.body.error.message, /of the upstream/);
    assert.equal(world.upstream.of("m").length, 1, "asked once");
    world.upstream.requests.length = 0;
  }
});

test("an upstream that fails in a later round ends the stream with an error and runs no tool again", async (t) => {
  const world = await start(t);
  world.upstream.script("m", [streamed(ASKS), json({ error: { message: "down" } }, 503)]);
  const seen = await stream(world.gateway, ask("m"));
  assert.equal(seen.content, "Let me look. ");
  assert.match(String(seen.error?.message), /down/);
  assert.equal(world.tools.requests.length, 1);
});

test("a failing tool is no error of the request: the model is told", async (t) => {
  const world = await start(t);
  world.tools.script("get_weather", [json({ message: "no such place" }, 404)]);
  world.upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const seen = await stream(world.gateway, ask("m"));
  assert.equal(seen.error, undefined);
  assert.equal(seen.content, "Let me look. It is sunny.");
  const told = JSON.parse(String(world.upstream.of("m")[1]?.body.messages.at(-1)?.content));
  assert.equal(told.success, false);
  assert.match(JSON.stringify(told.error), /no such place/);
});
