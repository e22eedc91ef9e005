import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Listening } from "../../demo/listen.ts";
import { startUpstream } from "../../demo/upstream.ts";

interface Piece {
  index: number;
  id?: string;
  function: { name?: string; arguments: string };
}

const QUESTION = {
  role: "user",
  content: "What is the weather in Zurich, and how much are 200 euros in Swiss francs?",
};
const TOOLS = ["get_weather", "convert_currency"].map((name) => ({ type: "function", function: { name } }));

describe("the scripted model server", () => {
  let upstream: Listening;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const post = (path: string, body: string) =>
    fetch(upstream.url + path, { method: "POST", headers: { "content-type": "application/json" }, body });
  const complete = (members: object) =>
    post(
      "/v1/chat/completions",
      JSON.stringify({ model: "m", messages: [QUESTION], tools: TOOLS, ...members }),
    );

  test("streams two calls whose arguments come by turns", async () => {
    const text = await (await complete({ stream: true })).text();
    const frames = text.split("\n\n").filter((frame) => frame.startsWith("data: {"));
    const choices = frames.map((frame) => JSON.parse(frame.slice(6)).choices[0]);
    const pieces: Piece[] = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
    const joined = [0, 1].map((index) => {
      const own = pieces.filter((piece) => piece.index === index);
      return own.map((piece) => piece.function.arguments).join("");
    });
    assert.deepEqual(joined, ['{"city":"Zurich"}', '{"amount":"200","from":"EUR","to":"CHF"}']);
    const order = pieces.map(({ index }) => index).join("");
    assert.match(order, /^01(01){2,}/);
    assert.deepEqual(choices.at(-1).finish_reason, "tool_calls");
    assert.ok(text.endsWith("data: [DONE]\n\n"));
  });

  test("says the same in one piece", async () => {
    const { choices, usage } = (await (await complete({})).json()) as {
      choices: { message: { content: string; tool_calls: Piece[] }; finish_reason: string }[];
      usage: object;
    };
    assert.equal(choices[0]?.finish_reason, "tool_calls");
    const names = choices[0]?.message.tool_calls.map((call) => call.function.name);
    assert.deepEqual(names, ["get_weather", "convert_currency"]);
    assert.ok(usage);
  });

  test("sends usage in a stream only where it was asked for", async () => {
    const asked = await (await complete({ stream: true, stream_options: { include_usage: true } })).text();
    assert.match(asked, /"choices":\[\],"usage":\{/);
    assert.doesNotMatch(await (await complete({ stream: true })).text(), /"usage"/);
  });

  test("answers other paths and faulty bodies with an error of the API's form", async () => {
    const unknown = await post("/v1/embeddings", "{}");
    assert.equal(unknown.status, 404);
    const faulty = await post("/v1/chat/completions", "{");
    assert.equal(faulty.status, 400);
    const { error } = (await faulty.json()) as { error: { type: string } };
    assert.equal(error.type, "invalid_request_error");
  });
});
