import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, send, stream } from "../e2e/support/client.ts";
import { registerTool } from "../e2e/support/gateway.ts";
import { streamed } from "../e2e/support/upstream.ts";
import { ANSWERS, startWorld } from "../e2e/support/world.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/play-cases.ts", import.meta.url));

interface Played {
  status: number;
  lines: string[];
  stderr: string;
}

/** Writes files into a folder of its own and plays it as `npm run cases` does. */
async function playFiles(t: TestContext, files: Record<string, string>): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "toolweir-cases-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, folder], { timeout: 60_000 }, (error, stdout, stderr) => {
      const status = error ? Number(error.code ?? -1) : 0;
      resolve({ status, lines: stdout.trimEnd().split("\n"), stderr });
    });
  });
}

/** Calls that are refused or corrected, by id; the last is of a tool that nobody registered. */
const CALLS = [
  { id: "good", name: "get_weather", args: '{"place":"Oslo"}' },
  { id: "missing", name: "get_weather", args: '{"town":"Oslo"}' },
  { id: "cut", name: "get_weather", args: '{"place":"Os' },
  { id: "repaired", name: "get_weather", args: '{"place":"Rome",}' },
  { id: "converted", name: "get_order", args: '{"id":"12345678901234567890"}' },
  { id: "nobody", name: "get_wether", args: "{}" },
];

/** The cases of a real run, as the gateway exports them, by call id. */
async function exportCases(t: TestContext): Promise<Record<string, string>> {
  const { upstream, tools, gateway } = await startWorld(t);
  const parameters = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
  await registerTool(gateway, "get_order", { url: tools.urlOf("get_order"), parameters });
  upstream.script("m", [streamed({ calls: CALLS }), streamed(ANSWERS)]);
  const { headers } = await stream(gateway, ask("m"));
  const path = `/runs/${headers.get("x-toolweir-run-id")}/case`;
  const get = async (query: string) => {
    const answer = await send(gateway, path + query, undefined, {}, "GET");
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return text;
  };
  const files: Record<string, string> = { "first.json": await get("") };
  for (const { id } of CALLS) files[`${id}.json`] = await get(`?call=${id}`);
  assert.equal(files["first.json"], files["missing.json"], "without a call it is the first refused one");
  const unknown = await send(gateway, `${path}?call=other`, undefined, {}, "GET");
  assert.equal(unknown.status, 404);
  assert.match(await unknown.text(), /"This run has no call \\"other\\"\."/);
  return files;
}

test("what GET /runs/{id}/case exports of a real run is played green, and red when it is changed", async (t) => {
  const files = await exportCases(t);
  const green = await playFiles(t, files);
  assert.deepEqual(green, { status: 0, lines: [`${CALLS.length + 1} passed, 0 failed`], stderr: "" });
  const other = { error_kind: "schema", must_mention: ["flute"], tool_calls: [] };
  const changed = Object.entries(files).map(([name, text]) => [
    name,
    JSON.stringify({ ...JSON.parse(text), expect: other }),
  ]);
  const red = await playFiles(t, Object.fromEntries(changed));
  assert.deepEqual([red.status, red.lines.length, red.lines.at(-1)], [1, 8, "0 passed, 7 failed"]);
  for (const line of red.lines.slice(0, -1)) assert.match(line, /^failed run_\w+_1_\d: /);
});

test("a case whose scenario is in words is skipped, and a folder without cases is an error", async (t) => {
  const words = { id: "words", area: "reliability", expect: {} };
  const reduced = {
    id: "reduced",
    arguments_text: {
      repeat: [
        ['{"a":', 1],
        ["[", 3],
        ["]", 3],
        ["}", 1],
      ],
    },
    parameters: { type: "object", properties: { a: { type: "array" } } },
    expect: { arguments: { a: [[[]]] } },
  };
  const files = { "a.json": JSON.stringify(words), "b.json": JSON.stringify(reduced), "c.txt": "no case" };
  const { status, lines } = await playFiles(t, files);
  assert.deepEqual([status, lines], [0, ["skipped words: its scenario is in words", "1 passed, 0 failed"]]);
  const nothing = await playFiles(t, {});
  assert.equal(nothing.status, 2);
  assert.match(nothing.stderr, /^There is no case to play/);
  const broken = await playFiles(t, { "a.json": "{" });
  assert.equal(broken.status, 2);
  assert.match(broken.stderr, /a\.json: not JSON/);
});
