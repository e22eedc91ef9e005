import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { checkToolDefinition } from "../../../src/core/tool-definition.ts";
import type { LedgerEntry } from "../../../src/engine/ports/ledger.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";
import type { Cleanup } from "./gateway.ts";
import { type GatewayProcess, startProcess } from "./process.ts";
import { type ScriptedServer, scriptedServer } from "./scripted-server.ts";
import { type UpstreamBody, whole } from "./upstream.ts";

/** One request to a tool. */
export interface Execution {
  tool: string;
  key: string;
  place: unknown;
}

/** A store in a file, a model that calls the tool which the user names, and tools that write down what they do. */
export interface LedgerWorld {
  file: string;
  /** Every request to a tool. */
  requests: Execution[];
  /** What changed: a tool that knows keys does nothing twice. */
  effects: Execution[];
  /** How long tools take, in milliseconds. */
  workMs: number;
  start(env?: Record<string, string>): Promise<GatewayProcess>;
  /** The ledger as it stands in the file, while no gateway has it open. */
  ledger(): LedgerEntry[];
  /** What SQLite says of the file. */
  integrity(): unknown;
}

const TOOLS = {
  create_order: {},
  log_visit: { confirm: "never" },
  pay: { confirm: "never", idempotency: { mode: "key" } },
  pay_order: { idempotency: { mode: "key" } },
};

/** The first message says `TOOL PLACE`: the model calls that tool, and answers when it has a result. */
async function startModel(t: Cleanup): Promise<ScriptedServer<UpstreamBody>> {
  return scriptedServer<UpstreamBody>(t, ({ body }) => {
    const last = body.messages.at(-1);
    if (last?.role === "tool") return whole({ text: "Done." });
    const [name = "", place] = String(last?.content).split(" ");
    return whole({ calls: [{ name, args: { place } }] });
  });
}

export async function startLedgerWorld(t: Cleanup): Promise<LedgerWorld> {
  const folder = mkdtempSync(join(tmpdir(), "toolweir-ledger-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "toolweir.db");
  const model = await startModel(t);
  const requests: Execution[] = [];
  const effects: Execution[] = [];
  const tools = await scriptedServer<{ place: unknown }>(t, ({ url, headers, body }) => {
    const done = { tool: url.slice(1), key: String(headers["idempotency-key"]), place: body.place };
    requests.push(done);
    const isKnown = done.tool.startsWith("pay") && effects.some(({ key }) => key === done.key);
    if (!isKnown) effects.push(done);
    return { wait: world.workMs, body: [JSON.stringify({ done: done.tool })] };
  });
  const world: LedgerWorld = {
    file,
    requests,
    effects,
    workMs: 0,
    async start(env = {}) {
      const gateway = await startProcess(t, {
        env: {
          TOOLWEIR_UPSTREAM_URL: `${model.url}/v1`,
          TOOLWEIR_STORE: `sqlite:${file}`,
          NODE_ENV: "test",
          ...env,
        },
      });
      await gateway.ready(60_000);
      return gateway;
    },
    ledger: () =>
      withDatabase(file, (db) =>
        db
          .prepare("SELECT state, entry FROM ledger")
          .all()
          .map(({ entry }) => JSON.parse(String(entry)) as LedgerEntry),
      ),
    integrity: () =>
      withDatabase(file, (db) => db.prepare("PRAGMA integrity_check").get()?.["integrity_check"]),
  };
  const stores = openSqlite(file);
  for (const [name, members] of Object.entries(TOOLS)) {
    const parameters = { type: "object", properties: { place: { type: "string" } } };
    const http = { method: "POST", url: `${tools.url}/${name}` };
    const { definition } = checkToolDefinition({ name, parameters, http, level: "write", ...members });
    await stores.tools.put(definition);
  }
  await stores.close();
  return world;
}

function withDatabase<T>(file: string, read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file);
  try {
    return read(db);
  } finally {
    db.close();
  }
}
