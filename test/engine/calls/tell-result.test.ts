import assert from "node:assert/strict";
import { test } from "node:test";
import { tellResult } from "../../../src/engine/calls/tell-result.ts";
import type { DocumentStore } from "../../../src/engine/ports/stores.ts";
import { GatewayError } from "../../../src/errors.ts";
import { stage, toolNamed, toolReply } from "../../support/engine.ts";

const TOOL = toolNamed("look", { result: { max_bytes: 200, overflow: "externalize" } });
const CALL = {
  id: "c1",
  name: "look",
  kind: "function",
  raw: "{}",
  reading: "plain",
  tooLong: false,
  extra: undefined,
} as const;

function tell(documents: Partial<DocumentStore>, value: unknown) {
  const { run } = stage({ targets: [], tools: [TOOL], documents: documents as DocumentStore });
  const outcome = { reply: toolReply(value), attempts: 1, durationMs: 1 };
  return tellResult(run, CALL, outcome, TOOL, TOOL.definition).then((message) => ({
    message,
    envelope: JSON.parse(message.content),
    offered: [...run.offer.gateway.keys()],
  }));
}

const down = async (): Promise<never> => {
  throw new GatewayError("store_unavailable", "The store does not answer.");
};

test("what is too long is stored, and reading it is offered", async () => {
  const kept: unknown[] = [];
  const put: DocumentStore["put"] = async (...document) => kept.push(document);
  const { message, envelope, offered } = await tell({ put }, { text: "x".repeat(500) });
  assert.match(envelope.data.reference, /^res_/);
  assert.deepEqual(offered, ["look", "read_result"]);
  assert.equal("stored" in message, false);
  const [[kind, key, value, options]] = kept as [[string, string, object, object]];
  assert.equal(kind, "result");
  assert.match(key, /^[0-9a-f]{32}:res_/);
  assert.deepEqual(value, { kind: "json", text: `{"text":"${"x".repeat(500)}"}`, cut: false });
  assert.deepEqual(options, { ttlMs: 3_600_000 });
});

test("what has room is not stored", async () => {
  const { envelope, offered } = await tell({ put: down }, { text: "x" });
  assert.deepEqual([envelope.data, offered], [{ text: "x" }, ["look"]]);
});

test("without the store it is shortened", async () => {
  const { envelope, offered } = await tell({ put: down }, { text: "x".repeat(500) });
  assert.match(envelope.data.text, /^x+…$/);
  assert.match(envelope.note, /^The data is shortened/);
  assert.deepEqual(offered, ["look"]);
});

test("a reader whose store does not answer fails like a tool that cannot be reached", async () => {
  const { run } = stage({
    targets: [],
    tools: [],
    documents: { get: down } as Partial<DocumentStore> as DocumentStore,
  });
  const { results } = run.deps;
  const reading = results.tool.local?.({ reference: "res_1" }, run.resultOwner);
  await assert.rejects(async () => reading, { name: "ToolFailure", kind: "unreachable" });
  assert.equal(await results.knowsAny(run.resultOwner, [`res_${"0".repeat(32)}`]), false);
});
