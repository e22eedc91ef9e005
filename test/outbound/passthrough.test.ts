import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import type { PassThroughRequest, UpstreamCall } from "../../src/engine/ports/upstream.ts";
import { GatewayError } from "../../src/errors.ts";
import { createPassThrough } from "../../src/outbound/passthrough.ts";

const REQUEST: PassThroughRequest = {
  method: "GET",
  path: "/models",
  headers: [],
  authorization: undefined,
  body: undefined,
};

async function connected(t: TestContext, listener: RequestListener, path = "") {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const passThrough = createPassThrough({
    base_url: `http://127.0.0.1:${port}${path}`,
    api_key: undefined,
    timeouts_ms: { connect: 1_000, first_byte: 1_000, idle: 300 },
  });
  t.after(async () => {
    await passThrough.close();
    server.closeAllConnections();
    server.close();
  });
  return { passThrough, server };
}

/** What the handler was told, until the end; `call` is there at once. */
function collect(
  passThrough: { forward: ReturnType<typeof createPassThrough>["forward"] },
  request: PassThroughRequest,
) {
  const ended = Promise.withResolvers<GatewayError | undefined>();
  const seen = { status: 0, text: "", ended: ended.promise };
  const call: UpstreamCall = passThrough.forward(request, {
    onHead: (status) => {
      seen.status = status;
    },
    onData: (bytes) => {
      seen.text += bytes;
    },
    onEnd: () => ended.resolve(undefined),
    onError: ended.resolve,
  });
  return { call, seen };
}

test("the path goes below the base URL, with or without one of its own", async (t) => {
  for (const [base, expected] of [
    ["", "/models"],
    ["/", "/models"],
    ["/openai/v1", "/openai/v1/models"],
  ]) {
    const { passThrough } = await connected(t, (request, response) => response.end(request.url), base);
    const { seen } = collect(passThrough, REQUEST);
    assert.equal(await seen.ended, undefined);
    assert.deepEqual([seen.status, seen.text], [200, expected]);
  }
});

test("informational answers are passed over", async (t) => {
  const { passThrough } = await connected(t, (_request, response) => {
    response.writeEarlyHints({ link: "</a>; rel=preload" });
    response.writeHead(201).end("made");
  });
  const { seen } = collect(passThrough, REQUEST);
  await seen.ended;
  assert.deepEqual([seen.status, seen.text], [201, "made"]);
});

test("an upstream that stops in the midst of a body is upstream_stream_timeout", async (t) => {
  const { passThrough } = await connected(t, (_request, response) => void response.write("begun"));
  const { seen } = collect(passThrough, REQUEST);
  assert.equal((await seen.ended)?.code, "upstream_stream_timeout");
  assert.equal(seen.text, "begun");
});

test("an error that the body throws is the error of the exchange", async (t) => {
  const { passThrough } = await connected(t, (request) => void request.resume());
  const refusal = new GatewayError("request_too_large", "text");
  async function* body() {
    yield Buffer.from("some");
    throw refusal;
  }
  const { seen } = collect(passThrough, { ...REQUEST, method: "POST", body: body() });
  assert.equal(await seen.ended, refusal);
});

test("what HTTP cannot carry is bad_request", async (t) => {
  const { passThrough } = await connected(t, (_request, response) => response.end());
  const { seen } = collect(passThrough, { ...REQUEST, headers: ["x", "a\r\nb: c"] });
  assert.equal((await seen.ended)?.code, "bad_request");
});

test("an abort before the connection stands sends nothing, and the handler hears nothing", async (t) => {
  let requests = 0;
  const { passThrough } = await connected(t, (_request, response) => {
    requests++;
    response.end();
  });
  const { call, seen } = collect(passThrough, REQUEST);
  call.abort();
  const { seen: next } = collect(passThrough, REQUEST);
  await next.ended;
  assert.equal(next.status, 200);
  assert.equal(requests, 1);
  assert.equal(await Promise.race([seen.ended, Promise.resolve("silence")]), "silence");
});
