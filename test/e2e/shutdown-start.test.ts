import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startProcess } from "./support/process.ts";
import { scriptedServer } from "./support/scripted-server.ts";

const STORE = "TOOLWEIR_STORE";

test("the start takes less than 3 s", async (t) => {
  const gateway = await startProcess(t);
  await gateway.ready();
  const took = performance.now() - gateway.startedAt;
  assert.ok(took < 3_000, `took ${took} ms`);
  gateway.signal("SIGTERM");
  assert.equal(await gateway.exit(), 0);
});

suite("a start that fails", { concurrency: true }, () => {
  test("with wrong settings ends with 78 and one line per fault", async (t) => {
    const yaml = "limits: { rounds: -1, round: 2 }\nlocale: fr\n";
    const gateway = await startProcess(t, { yaml });
    assert.equal(await gateway.exit(), 78);
    const lines = gateway.stderr.trimEnd().split("\n");
    assert.equal(lines.length, 3, gateway.stderr);
    for (const line of lines) assert.match(line, /toolweir\.yaml: (limits\.rounds?|locale): expected .+/);
    assert.equal(gateway.stdout, "");
  });

  test("on a port that is in use says so in one line", async (t) => {
    const other = await scriptedServer(t, () => ({}));
    const port = new URL(other.url).port;
    const gateway = await startProcess(t, { env: { TOOLWEIR_PORT: port } });
    assert.equal(await gateway.exit(), 1);
    assert.match(gateway.stderr, /^Toolweir cannot start: .*address already in use 127\.0\.0\.1:\d+\n$/);
    assert.doesNotMatch(gateway.stdout, /"level":"(fatal|error)"/);
  });

  for (const [store, said] of [
    ["redis://user:hunter2@127.0.0.1:1/0/1", "cannot be read"],
    ["redis+sentinel://user:hunter2@no-such-host.invalid", "need the name of the master"],
    [`sqlite:${import.meta.filename}/x.db`, "cannot be opened"],
    ["sqlite:/proc/no-such-folder/deeper/x.db", "cannot be opened"],
    [`sqlite:${import.meta.dirname}`, "cannot be opened"],
  ] as const) {
    test(`with a store that cannot be used (${store.slice(0, 24)}) ends with 78 and one sentence`, async (t) => {
      const gateway = await startProcess(t, { env: { [STORE]: store } });
      assert.equal(await gateway.exit(), 78);
      assert.match(gateway.stderr, /^Toolweir cannot start: .+\n$/);
      assert.ok(gateway.stderr.includes(said), gateway.stderr);
      assert.ok(!gateway.stderr.includes("hunter2"));
    });
  }

  test("on an address that is not of this machine ends with 78 and one sentence", async (t) => {
    const env = { TOOLWEIR_HOST: "192.0.2.1", TOOLWEIR_ADMIN_KEY: "k" };
    const gateway = await startProcess(t, { env, yaml: "auth: { mode: none }" });
    assert.equal(await gateway.exit(), 78);
    assert.match(gateway.stderr, /^Toolweir cannot start: 192\.0\.2\.1 is no address of this machine .+\n$/);
  });

  test("with an admin key that no header can carry ends with 78", async (t) => {
    const gateway = await startProcess(t, { env: { TOOLWEIR_ADMIN_KEY: "two words" } });
    assert.equal(await gateway.exit(), 78);
    assert.match(gateway.stderr, /^environment: TOOLWEIR_ADMIN_KEY: expected .*without blanks/);
    assert.ok(!gateway.stderr.includes("two words"));
  });
});
