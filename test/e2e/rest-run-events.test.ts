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

test("who comes back with the id of the last event gets no state twice, but always the end", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  upstream.script("m", [streamed(ASKS), { ...streamed(ANSWERS), wait: 600 }]);
  const answer = await send(gateway, "/v1/chat/completions", ask("m", { stream: true }));
  const id = String(answer.headers.get("x-toolweir-run-id"));
  const ids = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, event]) => String(event));
  const whole = await Promise.all([watch(gateway, id).then((reply) => reply.text()), answer.text()]);
  const seen = ids(whole[0]);
  assert.equal(seen.length, records(whole[0]).length);
  assert.equal(new Set(seen).size, seen.length);
  const last = String(seen.at(-1));
  const again = await (await watch(gateway, id, { "last-event-id": last })).text();
  assert.deepEqual(ids(again), [last]);
});

test("a state that a client has is not sent again while the run goes on", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  upstream.script("m", [{ ...streamed(ANSWERS), wait: 800 }]);
  const answer = await send(gateway, "/v1/chat/completions", ask("m", { stream: true }));
  const id = String(answer.headers.get("x-toolweir-run-id"));
  const first = await watch(gateway, id);
  const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader();
  const piece = String((await reader?.read())?.value);
  await reader?.cancel();
  const known = String(/^id: (.*)$/m.exec(piece)?.[1]);
  const rest = await Promise.all([watch(gateway, id, { "last-event-id": known }), answer.text()]);
  const seen = records(await rest[0].text());
  assert.ok(
    seen.length > 0 && seen.every(({ ended_at: ended, rounds }) => ended !== null || rounds.length > 0),
  );
});

test("runs.content: redacted shows what happened and nothing of what was said; runs.max bounds the records", async (t) => {
  const yaml = "runs: { content: redacted, max: 1 }";
  const { upstream, gateway } = await startWorld(t, [], { yaml });
  const runs: string[] = [];
  for (let index = 0; index < 2; index++) {
    upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
    const answer = await send(gateway, "/v1/chat/completions", ask("m"));
    await answer.text();
    runs.push(String(answer.headers.get("x-toolweir-run-id")));
  }
  const show = (path: string) => send(gateway, `/runs/${path}`, undefined, {}, "GET");
  const [first, second] = runs;
  assert.equal((await show(String(first))).status, 404);
  const record = (await (await show(String(second))).json()) as RunRecord;
  const raws = record.rounds.flatMap(({ calls }) => calls.map(({ raw }) => raw));
  assert.ok(raws.length > 0 && raws.every((raw) => /^\[redacted: \d+ characters\]$/.test(raw)));
  assert.deepEqual(records(await (await watch(gateway, String(second))).text()), [record]);
  assert.equal((await show(`${second}/case`)).status, 403);
});
