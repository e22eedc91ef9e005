import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolDefinition } from "../../src/core/tool.ts";
import type { KeptTurn, Stores } from "../../src/engine/ports/stores.ts";

/** A definition with every member, so that a backend that loses one is found out. */
export function sampleTool(name: string, description = "Says hello"): Omit<ToolDefinition, "version"> {
  return {
    name,
    description,
    parameters: { type: "object", properties: { who: { type: "string", enum: ["é", "日本", '"'] } } },
    http: {
      method: "POST",
      url: "https://api.example.com/{who}",
      query: { a: "b" },
      headers: {},
      body: "json",
    },
    level: "read",
    confirm: "auto",
    timeout_ms: 10_000,
    retry: 2,
    backoff_ms: 200,
    parallel_safe: false,
    partial_ok: false,
    cache_ttl_s: 0,
    shared: false,
    thought: false,
    max_calls_per_run: 3,
    result: { max_bytes: 16_384, overflow: "truncate" },
    tags: ["greeting"],
    keywords: [],
    examples: [{ who: "é" }],
  };
}

export function sampleTurn(...clientCallIds: string[]): KeptTurn {
  return {
    clientCallIds,
    assistant: { role: "assistant", tool_calls: clientCallIds.map((id) => ({ id })) },
    results: { call_g: { role: "tool", content: "3 °C" } },
  };
}

/** Time of a store under test, moved by hand. */
export interface Clock {
  ms: number;
}

/** Opens an empty store on the given clock. The caller of the contract closes it. */
export type OpenStores = (clock: Clock) => Promise<Stores>;

/** What every tool store must do. */
export function toolStoreContract(open: OpenStores): void {
  const setup = async () => {
    const clock = { ms: 1_000 };
    return { clock, tools: (await open(clock)).tools };
  };

  test("an unknown tool is undefined, cannot be deleted and has no versions", async () => {
    const { tools } = await setup();
    assert.equal(await tools.get("nobody"), undefined);
    assert.equal(await tools.delete("nobody"), false);
    assert.deepEqual(await tools.versions("nobody"), []);
    assert.deepEqual(await tools.list(), []);
  });

  test("what is put comes back as it was, with version 1 and the time", async () => {
    const { tools } = await setup();
    const stored = await tools.put(sampleTool("hello"));
    assert.deepEqual(stored, { definition: { ...sampleTool("hello"), version: 1 }, updatedAt: 1_000 });
    assert.deepEqual(await tools.get("hello"), stored);
    assert.deepEqual(await tools.list(), [stored]);
  });

  test("every put appends a version, and the list shows the newest of each name in order", async () => {
    const { clock, tools } = await setup();
    await tools.put(sampleTool("zebra"));
    await tools.put(sampleTool("ant", "one"));
    clock.ms = 2_000;
    await tools.put(sampleTool("ant", "two"));
    const versions = await tools.versions("ant");
    assert.deepEqual(
      versions.map(({ definition, updatedAt }) => [definition.version, definition.description, updatedAt]),
      [
        [1, "one", 1_000],
        [2, "two", 2_000],
      ],
    );
    const list = await tools.list();
    assert.deepEqual(
      list.map(({ definition }) => [definition.name, definition.version]),
      [
        ["ant", 2],
        ["zebra", 1],
      ],
    );
  });

  test("an expected version that is not current writes nothing", async () => {
    const { tools } = await setup();
    assert.equal(await tools.put(sampleTool("t"), 1), undefined);
    assert.equal((await tools.put(sampleTool("t"), 0))?.definition.version, 1);
    assert.equal(await tools.put(sampleTool("t", "late"), 0), undefined);
    assert.equal((await tools.put(sampleTool("t"), 1))?.definition.version, 2);
    assert.equal(await tools.delete("t", 1), false);
    assert.equal((await tools.versions("t")).length, 2);
    assert.equal(await tools.delete("t", 2), true);
  });

  test("a version number is never given twice, also not after a deletion", async () => {
    const { tools } = await setup();
    const seen = new Set<number | undefined>();
    for (let round = 0; round < 4; round++) {
      seen.add((await tools.put(sampleTool("t"), 0))?.definition.version);
      assert.equal(await tools.delete("t"), true);
      assert.equal(await tools.get("t"), undefined);
      assert.deepEqual(await tools.list(), []);
    }
    assert.equal(seen.size, 4);
    assert.equal(seen.has(undefined), false);
    assert.equal((await tools.versions("t")).length, 4);
  });
}

/** What every store of kept turns must do. */
export function keptTurnContract(open: OpenStores): void {
  const setup = async () => {
    const clock = { ms: 1_000 };
    return { clock, turns: (await open(clock)).keptTurns };
  };

  test("each client call finds the turn, again and again", async () => {
    const { turns } = await setup();
    await turns.keep("app", sampleTurn("a", "b"), 60_000);
    for (const id of ["a", "b", "a"]) assert.deepEqual(await turns.find("app", id), sampleTurn("a", "b"));
    assert.equal(await turns.find("app", "c"), undefined);
  });

  test("what one owner keeps no other finds", async () => {
    const { turns } = await setup();
    await turns.keep("app", sampleTurn("a"), 60_000);
    await turns.keep("other", sampleTurn("a", "z"), 60_000);
    assert.deepEqual(await turns.find("app", "a"), sampleTurn("a"));
    assert.equal(await turns.find("app", "z"), undefined);
  });

  test("a turn is there until its time is over and not after it", async () => {
    const { clock, turns } = await setup();
    await turns.keep("app", sampleTurn("a"), 500);
    clock.ms = 1_499;
    assert.deepEqual(await turns.find("app", "a"), sampleTurn("a"));
    clock.ms = 1_500;
    assert.equal(await turns.find("app", "a"), undefined);
  });

  test("an id that comes again finds the newest turn", async () => {
    const { clock, turns } = await setup();
    await turns.keep("app", sampleTurn("call_0", "old"), 500);
    await turns.keep("app", sampleTurn("call_0", "new"), 60_000);
    assert.deepEqual(await turns.find("app", "call_0"), sampleTurn("call_0", "new"));
    clock.ms = 2_000;
    await turns.keep("app", sampleTurn("x"), 60_000);
    assert.deepEqual(await turns.find("app", "call_0"), sampleTurn("call_0", "new"));
    assert.equal(await turns.find("app", "old"), undefined);
  });
}

/** What every open store must do as a whole. */
export function storesContract(open: OpenStores): void {
  test("ping answers while the store is open, and close may be called twice", async () => {
    const stores = await open({ ms: 0 });
    await stores.ping();
    await stores.close();
    await stores.close();
    await assert.rejects(stores.ping(), { code: "store_unavailable" });
  });
}
