import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { suite, test } from "node:test";
import { createLogger } from "../../src/telemetry/logger.ts";

const LOGGER = new URL("../../src/telemetry/logger.ts", import.meta.url).href;

function capture(level = "info") {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, logger: createLogger({ level, onDropped: () => {}, destination }) };
}

/** Runs a module in a process of its own, with its standard output in a pipe that nobody reads yet. */
function run(code: string) {
  const source = `import { createLogger } from ${JSON.stringify(LOGGER)};\n${code}`;
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: [...stdio] });
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}

suite("createLogger", () => {
  test("writes one JSON object a line, with time and level as words", () => {
    const { lines, logger } = capture();
    logger.info({ stage: "run" }, "text");
    logger.warn({ stage: "gate" });
    assert.equal(lines.length, 2);
    const [first, second] = lines.map((line) => JSON.parse(line));
    assert.deepEqual([first.level, first.stage, first.msg, second.level], ["info", "run", "text", "warn"]);
    assert.ok(Math.abs(Date.parse(first.time) - Date.now()) < 60_000);
  });

  test("escapes control characters, so that a value cannot make a line of its own", () => {
    const { lines, logger } = capture();
    const hostile = 'x\n{"level":"fatal"}\r\u001b[2J\u0000';
    logger.info({ tool_name: hostile }, hostile);
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines[0]?.trimEnd() ?? "", /\p{Cc}/u);
    assert.equal(JSON.parse(lines[0] ?? "").tool_name, hostile);
  });

  test("writes nothing below its level", () => {
    const { lines, logger } = capture("warn");
    logger.info({ stage: "run" });
    assert.deepEqual([lines.length, logger.isLevelEnabled("info")], [0, false]);
  });

  test("never shows the value of a credential header, also not of an error", () => {
    const { lines, logger } = capture();
    const names = [
      "authorization",
      "Authorization",
      "cookie",
      "set-cookie",
      "x-api-key",
      "proxy-authorization",
    ];
    const headers = Object.fromEntries([...names.map((name) => [name, "s3cret"]), ["accept", "text/plain"]]);
    logger.info({ headers });
    logger.error({ err: Object.assign(new Error("failed"), { headers }) });
    logger.info({ headers: "authorization: s3cret" });
    assert.ok(!lines.join("").includes("s3cret"));
    assert.equal(JSON.parse(lines[0] ?? "").headers.accept, "text/plain");
    assert.match(JSON.parse(lines[1] ?? "").err.stack, /Error: failed/);
  });
});

suite("standard output", () => {
  test("has every line when the process ends at once", async () => {
    const child = run(`
      const logger = createLogger({ level: "info", onDropped: () => {} });
      for (let i = 0; i < 1000; i++) logger.info({ i });
      process.exit(0);
    `);
    const lines = (await readAll(child.stdout)).trimEnd().split("\n");
    assert.deepEqual([lines.length, JSON.parse(lines.at(-1) ?? "").i], [1000, 999]);
  });

  test("does not stop the event loop while nobody reads it, and counts what it drops", async () => {
    const child = run(`
      let dropped = 0;
      const logger = createLogger({ level: "info", onDropped: () => dropped++ });
      const text = "x".repeat(1000);
      for (let i = 0; i < 12_000; i++) logger.info({ text });
      setTimeout(() => process.stderr.write("dropped " + dropped + "\\n"), 50);
    `);
    const [message] = await once(child.stderr, "data");
    const dropped = Number(String(message).split(" ")[1]);
    assert.ok(dropped > 0 && dropped < 12_000, `dropped ${dropped}`);
    const lines = (await readAll(child.stdout)).trimEnd().split("\n");
    assert.equal(lines.length, 12_000 - dropped);
  });
});
