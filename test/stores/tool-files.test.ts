import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";
import type { ToolProblem } from "../../src/engine/registry/definition-faults.ts";
import type { FileTool } from "../../src/engine/registry/file-tools.ts";
import { type ToolFiles, watchToolFiles } from "../../src/stores/tool-files.ts";

const root = mkdtempSync(join(tmpdir(), "toolweir-files-"));
const watching: ToolFiles[] = [];
afterEach(async () => {
  for (const files of watching.splice(0)) await files.close();
});
after(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
function newFolder(): string {
  const dir = join(root, String(++folders));
  mkdirSync(dir);
  return dir;
}

const yaml = (name: string, description = "d") => `
name: ${name}
description: ${description}
level: read
http: { method: GET, url: https://api.example.com/ }
`;

async function watch(dir: string) {
  const sets: (readonly FileTool[])[] = [];
  const problems: ToolProblem[] = [];
  const files = await watchToolFiles(dir, {
    check: (input) => checkToolDefinition(input),
    onChange: (tools) => sets.push(tools),
    onProblem: (problem) => problems.push(problem),
    pollMs: 20,
  });
  watching.push(files);
  const shown = () =>
    (sets.at(-1) ?? []).map(({ tool }) => `${tool.definition.name} ${tool.definition.description}`);
  return { sets, problems, shown, close: () => files.close() };
}

/** Waits until `claim` holds; the test fails with what it saw if that takes longer than a loaded machine needs. */
async function until(claim: () => boolean, seen: () => unknown): Promise<void> {
  for (let left = 500; !claim(); left--) {
    if (left === 0) assert.fail(`still ${JSON.stringify(seen())}`);
    await delay(20);
  }
}

test("a missing folder has no tools, and its files count once it is there", async () => {
  const dir = join(root, "later");
  const { sets, problems, shown } = await watch(dir);
  assert.deepEqual([sets, problems], [[[]], []]);
  mkdirSync(dir);
  writeFileSync(join(dir, "a.yaml"), yaml("a"));
  await until(() => shown().length === 1, shown);
});

test("YAML and JSON files with one tool or a list are read before the promise resolves", async () => {
  const dir = newFolder();
  writeFileSync(join(dir, "one.yaml"), yaml("one"));
  const definition = { level: "read", http: { method: "GET", url: "https://api.example.com/" } };
  writeFileSync(
    join(dir, "two.json"),
    JSON.stringify([
      { name: "two", ...definition },
      { name: "three", ...definition },
    ]),
  );
  writeFileSync(join(dir, "none.yml"), "");
  writeFileSync(join(dir, "notes.txt"), "no tool");
  writeFileSync(join(dir, ".hidden.yaml"), "no: tool");
  const { sets, problems } = await watch(dir);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    sets.map((tools) => tools.map(({ tool, file }) => [tool.definition.name, file])),
    [
      [
        ["one", join(dir, "one.yaml")],
        ["two", join(dir, "two.json")],
        ["three", join(dir, "two.json")],
      ],
    ],
  );
});

test("every fault is reported once, with file and path, and the other files count", async () => {
  const dir = newFolder();
  writeFileSync(join(dir, "bad.yaml"), "- { name: a.b, level: read }\n- [1]\n");
  writeFileSync(join(dir, "broken.yaml"), "name: [\n");
  writeFileSync(join(dir, "good.yaml"), yaml("good"));
  const { problems, shown } = await watch(dir);
  const reported = problems.map(({ source, path }) => [source, path]);
  const bad = join(dir, "bad.yaml");
  assert.deepEqual(reported.slice(0, 3).sort(), [
    [bad, "[0].http"],
    [bad, "[0].name"],
    [bad, "[1]"],
  ]);
  assert.deepEqual(reported.slice(3), [[join(dir, "broken.yaml"), ""]]);
  assert.match(problems[3]?.message ?? "", /line \d/);
  assert.deepEqual(shown(), ["good d"]);
  await delay(200);
  assert.equal(problems.length, 4);
});

test("changed, new, renamed and deleted files take effect while it runs", async () => {
  const dir = newFolder();
  writeFileSync(join(dir, "a.yaml"), yaml("a", "one"));
  const { shown, sets } = await watch(dir);
  writeFileSync(join(dir, "a.yaml"), yaml("a", "two"));
  writeFileSync(join(dir, "b.yaml"), yaml("b"));
  await until(() => shown().join() === "a two,b d", shown);
  renameSync(join(dir, "b.yaml"), join(dir, "0.yaml"));
  await until(() => shown().join() === "b d,a two", shown);
  rmSync(join(dir, "a.yaml"));
  await until(() => shown().join() === "b d", shown);
  const calls = sets.length;
  await delay(200);
  assert.equal(sets.length, calls);
});

test("a file that becomes faulty keeps its last good tools until it is right again", async () => {
  const dir = newFolder();
  writeFileSync(join(dir, "a.yaml"), yaml("a", "one"));
  const { problems, shown } = await watch(dir);
  writeFileSync(join(dir, "a.yaml"), "name: a\n");
  await until(
    () => problems.length === 2,
    () => problems,
  );
  assert.deepEqual(shown(), ["a one"]);
  writeFileSync(join(dir, "a.yaml"), yaml("a", "two"));
  await until(() => shown().join() === "a two", shown);
  assert.equal(problems.length, 2);
});

test("of two definitions of one name the first file has it, and the other is reported", async () => {
  const dir = newFolder();
  writeFileSync(join(dir, "a.yaml"), yaml("same", "first"));
  writeFileSync(join(dir, "b.yaml"), yaml("same", "second"));
  const { problems, shown } = await watch(dir);
  assert.deepEqual(shown(), ["same first"]);
  assert.deepEqual(
    problems.map(({ source, path }) => [source, path]),
    [[join(dir, "b.yaml"), "name"]],
  );
});

test("a file that cannot be JSON is refused, and so is a folder that is none", async () => {
  const dir = newFolder();
  writeFileSync(join(dir, "loop.yaml"), "&a [*a]");
  const looped = await watch(dir);
  assert.deepEqual(
    looped.problems.map(({ message }) => message),
    ["An alias leads back to itself."],
  );
  const file = join(dir, "file");
  writeFileSync(file, "");
  const { problems } = await watch(file);
  await delay(100);
  assert.equal(problems.length, 1);
});

test("nothing is called after close", async () => {
  const dir = newFolder();
  const { sets, close } = await watch(dir);
  await close();
  writeFileSync(join(dir, "a.yaml"), yaml("a"));
  await delay(200);
  assert.equal(sets.length, 1);
});
