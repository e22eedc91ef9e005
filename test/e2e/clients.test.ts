import assert from "node:assert/strict";
import { test } from "node:test";
import { registerTool } from "./support/gateway.ts";
import { type ProviderStream, QUIRKY_STREAMS } from "./support/quirky-streams.ts";
import { recordedStreams } from "./support/recorded-streams.ts";
import { CLIENTS, type Got } from "./support/sdk-clients.ts";
import { sse, streamed } from "./support/upstream.ts";
import { startWorld, type World } from "./support/world.ts";

const ANSWER = "That is all.";
const RECORDED = 60;

const recorded = recordedStreams(RECORDED);
const streams = [...QUIRKY_STREAMS, ...(recorded ?? [])];

/** Plays a stream, and the answer after it, to every client; returns what each of them got, or the text of its error. */
async function play(
  { upstream, gateway }: World,
  { name, body }: ProviderStream,
  tools: readonly string[],
  headers: Record<string, string>,
): Promise<Map<string, Got | string>> {
  const results = await Promise.all(
    Object.entries(CLIENTS).map(async ([client, run]): Promise<[string, Got | string]> => {
      const model = `${client} ${name}`.slice(0, 200);
      upstream.script(model, [sse(body), streamed({ text: ANSWER })]);
      const got = run({ url: gateway.url, model, tools, headers });
      return [client, await got.catch((error: unknown) => `failed: ${error}`)];
    }),
  );
  return new Map(results);
}

const namesOf = ({ calls }: ProviderStream) => [...new Set(calls.map(({ name }) => name))];

function expectedOf({ text, refusal = "", calls }: ProviderStream, client: string): Got {
  // runTools goes on by itself until the model has answered.
  if (client === "openai runTools" && calls.length > 0) return { text: text + ANSWER, calls };
  return { text: client === "ai" ? text + refusal : text, calls };
}

/** Different calls in their order: the gateway runs the same call once. */
function different(calls: ProviderStream["calls"]): ProviderStream["calls"] {
  return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()];
}

test("five clients get the same text and calls of their own tools", async (t) => {
  const world = await startWorld(t, []);
  for (const stream of streams) {
    await t.test(stream.name, async () => {
      const results = await play(world, stream, namesOf(stream), { "x-toolweir-tools": "none" });
      for (const [client, got] of results) assert.deepEqual(got, expectedOf(stream, client), client);
    });
  }
});

test("five clients get the text of all rounds and no call when the gateway runs the tools", async (t) => {
  const world = await startWorld(t, []);
  for (const name of new Set(streams.flatMap(namesOf))) {
    const parameters = { type: "object", properties: {}, additionalProperties: true };
    await registerTool(world.gateway, name, { url: world.tools.urlOf(name), parameters });
  }
  for (const stream of streams.filter(({ calls }) => calls.length > 0)) {
    await t.test(stream.name, async () => {
      const before = world.tools.requests.length;
      // Five clients at the same time would have each other's results.
      const headers = { "x-toolweir-tools": namesOf(stream).join(","), "x-toolweir-cache": "off" };
      const results = await play(world, stream, [], headers);
      for (const [client, got] of results)
        assert.deepEqual(got, { text: stream.text + ANSWER, calls: [] }, client);
      const ran = world.tools.requests.slice(before).map(({ url, body }) => `${url} ${JSON.stringify(body)}`);
      const once = different(stream.calls).map(({ name, args }) => `/tool/${name} ${JSON.stringify(args)}`);
      assert.deepEqual(
        ran.toSorted(),
        Object.keys(CLIENTS)
          .flatMap(() => once)
          .toSorted(),
      );
    });
  }
});

test("recorded streams of real providers are among the streams", {
  skip: recorded ? false : "no ../shared/data/streams: only the own streams were played",
}, () => {
  assert.equal(recorded?.length, RECORDED);
});
