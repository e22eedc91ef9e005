/**
 * The examples of the documents, run as a reader would run them. A fenced block says by the second word of its info string
 * what it is:
 *
 * - `sh test`, `js test`, `python test`: is run and must end with status 0. The blocks of one document run in order, against
 *   one gateway that starts without keys and without tools.
 * - `json output`, `text output` right after it: what it prints. JSON is compared member by member, and what it has beyond
 *   that is ignored; text is compared whole. `…` stands for anything.
 * - `yaml config`, `yaml tool`, `json tool`: must be accepted by the gateway's own loaders (config-examples.test.ts).
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type Block, blocksOf, DOCUMENTS, ROOT, readText } from "./markdown.ts";
import { assertPrints } from "./output.ts";
import { startWorld, type World } from "./scripted-world.ts";

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  sh: ["bash", "-euo", "pipefail", "-s"],
  js: [process.execPath, "--input-type=module", "-"],
  python: ["python3", "-"],
};

const pythonMissing = spawnSync("python3", ["-c", "import openai"]).status !== 0;

for (const document of DOCUMENTS) {
  const blocks = blocksOf(readText(document));
  if (!blocks.some((block) => block.role === "test")) continue;
  describe(`the examples of ${document} do what they say`, () => {
    let world: World;
    let gateway: GatewayProcess;
    before(async () => {
      world = await startWorld();
      gateway = await startGateway(`${world.url}/v1`);
    });
    after(async () => {
      await gateway?.stop();
      await world?.close();
    });
    for (const [index, block] of blocks.entries()) {
      if (block.role !== "test") continue;
      const skip = block.language === "python" && pythonMissing && "python3 has no package openai";
      test(`${document}:${block.line} (${block.language})`, { skip }, async () => {
        const output = await run(block, gateway.url, world.url);
        const expected = blocks[index + 1];
        if (expected?.role === "output") assertPrints(output, expected);
      });
    }
  });
}

test("every block that says how it is checked is of a known kind", () => {
  const known = ["", "test", "output", "config", "tool"];
  for (const document of DOCUMENTS) {
    for (const block of blocksOf(readText(document))) {
      assert.ok(known.includes(block.role), `${document}:${block.line}: ${block.role}`);
      if (block.role === "test")
        assert.ok(COMMANDS[block.language], `${document}:${block.line}: ${block.language}`);
    }
  }
});

async function run(block: Block, gatewayUrl: string, worldUrl: string): Promise<string> {
  const source = block.text
    .replaceAll("http://127.0.0.1:8787", gatewayUrl)
    .replaceAll("https://api.open-meteo.com", worldUrl)
    .replaceAll("https://shop.example.com", worldUrl);
  const [command = "", ...args] = COMMANDS[block.language] ?? [];
  const child = spawn(command, args, {
    cwd: fileURLToPath(ROOT),
    timeout: 60_000,
    env: { PATH: process.env["PATH"] },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => (stdout += text));
  child.stderr.on("data", (text) => (stderr += text));
  child.stdin.end(source);
  const status = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  assert.equal(status, 0, `The example failed.\n${stderr}\n${stdout}`);
  return stdout;
}
