import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { runAttempts } from "../../../src/engine/calls/attempt.ts";
import { ToolHealth } from "../../../src/engine/calls/tool-health.ts";
import { toToolMessage } from "../../../src/engine/results/results.ts";
import { attempt, openTransport, serveHttp, toolOf } from "../../outbound/tool-fixture.ts";

type Chunk = string | { hex: string } | { repeat: string; times: number };

interface Answer {
  status: number;
  headers: Record<string, string>;
  body_chunks: Chunk[];
  delay_ms: number;
}

interface Expected {
  tool_call_id: string;
  content_contains?: string;
  content_contains_all?: string[];
  content_contains_any?: string[];
  content_max_length?: number;
}

interface Case {
  id: string;
  tool_http: Record<string, Answer>;
  expect: { next_request: { messages_tail: (Expected | { role: "assistant" })[] } };
}

function toBytes(chunk: Chunk): Buffer {
  if (typeof chunk === "string") return Buffer.from(chunk);
  return "hex" in chunk ? Buffer.from(chunk.hex, "hex") : Buffer.from(chunk.repeat.repeat(chunk.times));
}

function check(content: string, expected: Expected): void {
  for (const text of [expected.content_contains ?? "", ...(expected.content_contains_all ?? [])]) {
    assert.ok(content.includes(text), `${text} in ${content}`);
  }
  const any = expected.content_contains_any ?? [""];
  assert.ok(
    any.some((text) => content.includes(text)),
    content,
  );
  assert.ok(content.length <= (expected.content_max_length ?? Number.POSITIVE_INFINITY));
  assert.ok(content.isWellFormed() && !/[\0\ufffd]/.test(content));
}

const LATIN1: Case = {
  id: "own sample: a Latin-1 error text",
  tool_http: {
    t: {
      status: 404,
      headers: { "content-type": "text/plain; charset=latin1" },
      body_chunks: [{ hex: "e963686563" }],
      delay_ms: 0,
    },
  },
  expect: {
    next_request: { messages_tail: [{ tool_call_id: "1", content_contains_all: ["404", "échec"] }] },
  },
};

const FOLDER = new URL("../../../../shared/cases/", import.meta.url);
const files = existsSync(FOLDER)
  ? readdirSync(FOLDER).filter((name) => /^(402|404|406|407|408|516)-/.test(name))
  : [];
const cases = files.map((name): Case => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")));

for (const sample of [LATIN1, ...cases]) {
  test(`from the socket to the message: ${sample.id}`, async (t) => {
    const answers = Object.values(sample.tool_http);
    const url = await serveHttp(t, async (request, response) => {
      const answer = answers[Number(request.url?.slice(1))];
      await sleep(answer?.delay_ms ?? 0, undefined, { ref: false });
      response.writeHead(answer?.status ?? 500, answer?.headers);
      response.end(Buffer.concat(answer?.body_chunks.map(toBytes) ?? []));
    });
    const transport = openTransport(t);
    const expected = sample.expect.next_request.messages_tail.filter((message) => "tool_call_id" in message);
    for (const index of answers.keys()) {
      const tool = toolOf({ url: `${url}/${index}` }, { timeout_ms: 300 });
      const outcome = await runAttempts(tool, {}, attempt, new AbortController().signal, {
        transport,
        health: new ToolHealth(),
      });
      const said = toToolMessage({ id: `c${index}`, name: "t" }, outcome, tool, { locale: "en" });
      check(said.content, expected[index] ?? { tool_call_id: "" });
    }
  });
}

test("the shared cases", { skip: cases.length === 0 && "the shared cases are absent" }, () => {
  assert.equal(cases.length, 6);
});
