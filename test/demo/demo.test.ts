import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startUpstream } from "../../demo/upstream.ts";
import { DemoProcess } from "./demo-process.ts";

const GATEWAY = /^ {2}gateway +(http:\S+)$/m;

/** The text of one side of the two columns, its lines joined. */
function column(output: string, side: "client" | "gateway"): string {
  const rows = output.split("\n").filter((line) => line.includes("│"));
  const cells = rows.map((line) => line.split("│")[side === "client" ? 0 : 1]?.trim() ?? "");
  return cells.filter((cell) => cell !== "").join(" ");
}

describe("npm run demo", () => {
  test("plays one question through within ten seconds, whatever OPENAI_* variables say", async () => {
    const startedAt = performance.now();
    const decoys = {
      OPENAI_API_KEY: "sk-secret",
      OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
      OPENAI_MODEL: "big-model",
      OPENAI_LOG: "debug",
    };
    const demo = new DemoProcess(["--once"], { COLUMNS: "120", ...decoys });
    assert.equal(await demo.ended(), 0, demo.stderr);
    const took = performance.now() - startedAt;
    assert.equal(demo.stderr, "");
    assert.ok(took < 10_000, `${took} ms`);

    const client = column(demo.stdout, "client");
    assert.match(client, /Let me look up the weather and the exchange rate\. Now the train\./);
    assert.match(
      client,
      /In Zurich it is \d+ °C .+ 200 EUR are 188 CHF\. The \d\d:\d\d train from Paris reaches Zurich/,
    );
    assert.match(client, /finish_reason stop.* 0 with tool calls/);

    const gateway = column(demo.stdout, "gateway");
    for (const round of [1, 2, 3, 4]) assert.match(gateway, new RegExp(`s +round ${round} `));
    assert.match(gateway, /schema changed amount: "200" → 200/);
    assert.match(gateway, /find_train {2}✓ syntax ✗ schema told the model: .*did you mean "time_of_day"\?/);
    assert.match(
      gateway,
      /find_train {2}time_of_day = "morning".*find_train {2}✓ syntax ✓ schema ✓ rules ✓ context → sent/,
    );
    assert.match(gateway, /completed: 4 rounds, 4 calls \(3 ok, 1 rejected\)/);
    assert.doesNotMatch(demo.stdout, /sk-secret|127\.0\.0\.1:9\/|big-model/);
    assert.ok(!demo.stdout.includes("\x1b"), "no colour where there is no terminal");
  });
});

describe("a demo that keeps running", () => {
  let demo: DemoProcess;
  before(() => {
    demo = new DemoProcess([]);
  });
  after(() => demo.kill());

  test("says so within ten seconds, and what to try", async () => {
    const seconds = Number(
      await demo.shows(/The demo took (\d+\.\d) s and keeps running\. Ctrl-C ends it\./),
    );
    assert.ok(seconds < 10);
    const url = await demo.shows(GATEWAY);
    const links = demo.stdout.match(
      /http:\S+\/(?:runs\/\w+|tools|metrics|healthz|openapi\.json)$|http:\S+\/runs\/\w+/gm,
    );
    assert.equal(links?.length, 5);
    for (const link of links ?? []) {
      assert.ok(link.startsWith(url));
      assert.equal((await fetch(link)).status, 200, link);
    }
  });

  test("answers the requests that it printed, streamed and not", async () => {
    const url = await demo.shows(GATEWAY);
    const bodies = [...demo.stdout.matchAll(/-d '(\{.+\})'/g)].map(([, body]) => body ?? "");
    assert.equal(bodies.length, 3);
    const answers: string[] = [];
    for (const body of bodies) {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
      assert.equal(response.status, 200);
      answers.push(await response.text());
    }
    const [streamed = "", two = "", corrected = ""] = answers;
    assert.match(streamed, /data: \{.*" Oslo".*"stop_reason":"completed".*data: \[DONE\]/s);
    assert.match(JSON.parse(two).choices[0].message.content, /In Lima it is .* In Quito it is /);
    assert.match(JSON.parse(corrected).choices[0].message.content, /In Oslo it is /);
    assert.deepEqual(
      JSON.parse(corrected).toolweir.tools.map(({ ok }: { ok: boolean }) => ok),
      [false, true],
    );
  });

  test("ends on Ctrl-C, also with a request under way", async () => {
    const url = await demo.shows(GATEWAY);
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Weather in Rome?" }] });
    const headers = { "content-type": "application/json" };
    const request = fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body }).catch(
      () => undefined,
    );
    await sleep(50);
    demo.interrupt();
    assert.equal(await demo.ended(), 0, demo.stderr);
    assert.equal(demo.stderr, "");
    await request;
  });
});

describe("a demo otherwise", { concurrency: true }, () => {
  test("uses one column on a narrow terminal", async () => {
    const demo = new DemoProcess(["--once"], { COLUMNS: "72" });
    assert.equal(await demo.ended(), 0, demo.stderr);
    assert.match(demo.stdout, /^In Zurich it is \d+ °C/m);
    assert.match(demo.stdout, /^│ +\d\.\d\d s {2}round 4$/m);
    const table = demo.stdout.split("\n").filter((line) => line.startsWith("│"));
    assert.ok(table.every((line) => line.length <= 72));
  });

  test("plays the same question with --real against the model server in the environment", async (t) => {
    const upstream = await startUpstream();
    t.after(() => upstream.close());
    const env = {
      OPENAI_API_KEY: "sk-secret",
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_MODEL: "big-model",
    };
    const demo = new DemoProcess(["--real", "--once"], env);
    assert.equal(await demo.ended(), 0, demo.stderr);
    assert.match(demo.stdout, new RegExp(`model server {2}${upstream.url}/v1 {2}big-model`));
    assert.match(demo.stdout, /completed: 4 rounds/);
    assert.doesNotMatch(demo.stdout, /sk-secret|scripted/);
  });

  test("says in one line that the key is missing", async () => {
    const demo = new DemoProcess(["--real"]);
    assert.equal(await demo.ended(), 1);
    assert.match(demo.stderr, /^--real needs OPENAI_API_KEY .*\n$/);
    assert.equal(demo.stdout, "");
  });

  test("says in one line that the model server refused", async (t) => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(401, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: { message: "Incorrect\nAPI key", type: "invalid_request_error" } }),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const demo = new DemoProcess(["--real"], { OPENAI_API_KEY: "sk-wrong", OPENAI_BASE_URL: url });
    assert.equal(await demo.ended(), 1);
    assert.equal(demo.stderr, `${url} did not answer the question: 401 Incorrect API key\n`);
  });

  test("says in one line that a flag is not known", async () => {
    const demo = new DemoProcess(["--rael"]);
    assert.equal(await demo.ended(), 1);
    assert.match(demo.stderr, /^Unknown option '--rael'.* --once, --real and --model NAME\.\n$/);
  });
});
