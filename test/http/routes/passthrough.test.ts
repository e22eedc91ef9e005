import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { request } from "undici";
import { GatewayError } from "../../../src/errors.ts";
import { upstreamPath } from "../../../src/http/routes/passthrough.ts";
import { KEYED } from "../edge.ts";
import { bytesOf, startGateway, startUpstream } from "./pass.ts";

test("method, path, query, headers and body reach the upstream as they were sent", async (t) => {
  const seen: { method: string; url: string; raw: string[]; body: Buffer }[] = [];
  const upstream = await startUpstream(t, async (incoming: IncomingMessage, response) => {
    const { method = "", url = "", rawHeaders } = incoming;
    seen.push({ method, url, raw: rawHeaders, body: await bytesOf(incoming) });
    response.end("ok");
  });
  const port = await startGateway(t, upstream);
  const body = Buffer.concat([Buffer.from("--x\r\n\r\n"), randomBytes(300_000), Buffer.from("--x--")]);
  const { statusCode } = await request(`http://127.0.0.1:${port}/v1/files/a%2Fb?x=%20&x=2&y`, {
    method: "PUT",
    headers: {
      "Content-Type": "multipart/form-data; boundary=x",
      "X-Custom": "Ünï".normalize(),
      authorization: "Bearer sk-client",
      cookie: "a=b",
      "x-toolweir-session": "s",
      te: "trailers",
    },
    body,
  });
  assert.equal(statusCode, 200);
  assert.deepEqual([seen[0]?.method, seen[0]?.url], ["PUT", "/api/v1/files/a%2Fb?x=%20&x=2&y"]);
  assert.ok(seen[0]?.body.equals(body));
  const headers = seen[0]?.raw ?? [];
  assert.equal(headers[headers.indexOf("X-Custom") + 1], "Ünï");
  assert.equal(headers[headers.indexOf("authorization") + 1], "Bearer sk-client");
  assert.equal(headers[headers.indexOf("host") + 1], `127.0.0.1:${upstream}`);
  for (const name of ["cookie", "x-toolweir-session", "te"]) assert.ok(!headers.includes(name), name);
});

test("status, headers and bytes of the answer come back as they were, compressed ones too", async (t) => {
  const zipped = gzipSync(randomBytes(200_000));
  const upstream = await startUpstream(t, (_request, response) => {
    response.writeHead(
      404,
      [
        ["Content-Encoding", "gzip"],
        ["X-Twice", "1"],
        ["X-Twice", "2"],
        ["Set-Cookie", "a=b"],
        ["Cache-Control", "max-age=5"],
        ["X-Request-Id", "req_upstream"],
        ["Connection", "close, X-Hop"],
        ["X-Hop", "1"],
      ].flat() as string[],
    );
    response.end(zipped);
  });
  const port = await startGateway(t, upstream);
  const answer = await request(`http://127.0.0.1:${port}/v1/models/none`);
  assert.equal(answer.statusCode, 404);
  assert.deepEqual(answer.headers["x-twice"], ["1", "2"]);
  assert.equal(answer.headers["content-encoding"], "gzip");
  assert.equal(answer.headers["set-cookie"], "a=b");
  assert.equal(answer.headers["cache-control"], "max-age=5");
  assert.equal(answer.headers["x-request-id"], "req_upstream");
  assert.equal(answer.headers["x-hop"], undefined);
  assert.ok((await bytesOf(answer.body)).equals(zipped));
});

test("an answer without a request id gets ours", async (t) => {
  const port = await startGateway(t, await startUpstream(t, (_request, response) => response.end()));
  const answer = await request(`http://127.0.0.1:${port}/v1/models`, { headers: { "x-request-id": "mine" } });
  assert.equal(answer.headers["x-request-id"], "mine");
  await answer.body.dump();
});

test("the upstream's key takes the place of the client's, and a key of the gateway never leaves it", async (t) => {
  const seen: (string | undefined)[] = [];
  const upstream = await startUpstream(t, ({ headers }, response) => {
    seen.push(headers.authorization);
    response.end();
  });
  const withKey = await startGateway(t, upstream, { apiKey: "sk-upstream", auth: KEYED });
  const withoutKey = await startGateway(t, upstream, { auth: KEYED });
  for (const port of [withKey, withoutKey]) {
    const headers = { authorization: "Bearer client-key" };
    await (await request(`http://127.0.0.1:${port}/v1/models`, { headers })).body.dump();
  }
  assert.deepEqual(seen, ["Bearer sk-upstream", undefined]);
  const denied = await request(`http://127.0.0.1:${withKey}/v1/models`);
  assert.equal(denied.statusCode, 401);
  assert.equal(seen.length, 2);
});

test("a HEAD of an endpoint of the gateway's own is 405 and costs the upstream nothing", async (t) => {
  let calls = 0;
  const upstream = await startUpstream(t, (_request, response) => {
    calls++;
    response.end();
  });
  const port = await startGateway(t, upstream);
  const own = await request(`http://127.0.0.1:${port}/v1/chat/completions?x`, { method: "HEAD" });
  assert.equal(own.statusCode, 405);
  assert.equal(calls, 0);
  const other = await request(`http://127.0.0.1:${port}/v1/models`, { method: "HEAD" });
  assert.equal(other.statusCode, 200);
  const traced = await request(`http://127.0.0.1:${port}/v1/models`, { method: "TRACE" });
  assert.equal(traced.statusCode, 405);
  assert.equal(calls, 1);
});

test("no spelling of a dot segment leaves the base path", () => {
  const refused = [
    "/v1/../admin",
    "/v1/files/..",
    "/v1/./x",
    "/v1/%2e%2e/admin",
    "/v1/.%2E/admin",
    "/v1/a%2f..%2f..%2fadmin",
    "/v1/%252e%252e/admin",
    "/v1/..\\admin",
    "/v1/..%5cadmin",
    "/v1/..;/admin",
    "/v1/%zz",
    "/v1/a#b",
    "/%761/models",
    "/v1/%252525252e%252525252e/admin",
  ];
  for (const target of refused) {
    assert.throws(
      () => upstreamPath(target),
      (error) => error instanceof GatewayError,
      target,
    );
  }
  const kept = [
    "/models",
    "/models/gpt-4.1",
    "/models/meta%2Fllama-3.1",
    "/a..b/c",
    "/x?y=../..",
    "/",
    "/%E4%B8%AD",
  ];
  for (const path of kept) assert.equal(upstreamPath(`/v1${path}`), path);
});
