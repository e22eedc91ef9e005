import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunRecord } from "../../src/engine/run-record.ts";
import { ask, send } from "./support/client.ts";
import type { Gateway } from "./support/gateway.ts";
import { streamed } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

const watch = (gateway: Gateway, id: string, headers: Record<string, string> = {}) =>
  send(gateway, `/runs/${id}/events`, undefined, { accept: "text/event-stream", ...headers }, "GET");

const records = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data)) as RunRecord);

test("the events of a run bring its record as it grows, and end with it", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  upstream.script("m", [streamed(ASKS), { ...streamed(ANSWERS), wait: 300 }]);
  const answer = await send(gateway, "/v1/chat/completions", ask("m", { stream: true }));
  const id = String(answer.headers.get("x-toolweir-run-id"));
  const [events] = await Promise.all([watch(gateway, id).then((reply) => reply.text()), answer.text()]);
  const seen = records(events);
  assert.equal(seen[0]?.ended_at, null, events);
  assert.equal(seen.at(-1)?.stop_reason, "completed");
  assert.equal(seen.at(-1)?.rounds.length, 2);
  const whole = await (await send(gateway, `/runs/${id}`, undefined, {}, "GET")).json();
  assert.deepEqual(seen.at(-1), whole);
});

test("the events of a run that has ended are its record, once", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  upstream.script("m", [streamed(ANSWERS)]);
  const answer = await send(gateway, "/v1/chat/completions", ask("m"));
  await answer.text();
  const events = await (await watch(gateway, String(answer.headers.get("x-toolweir-run-id")))).text();
  assert.equal(records(events).length, 1);
  assert.equal((await watch(gateway, "run_unknown")).status, 404);
});
