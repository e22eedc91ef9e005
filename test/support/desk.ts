import { Approvals, type Decider } from "../../src/engine/approvals/approvals.ts";
import { Writes } from "../../src/engine/approvals/writes.ts";
import { ToolHealth } from "../../src/engine/calls/tool-health.ts";
import { newId } from "../../src/engine/new-id.ts";
import type { Caller } from "../../src/engine/offer.ts";
import type { LedgerEntry } from "../../src/engine/ports/ledger.ts";
import type { LedgerNote } from "../../src/engine/ports/telemetry.ts";
import type { ToolTransport } from "../../src/engine/ports/tools.ts";
import { createSnapshot, type RegisteredTool } from "../../src/engine/registry/tool-snapshot.ts";
import { SessionBook } from "../../src/engine/sessions/session-book.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";
import { CALLER, fakeTransport, toolNamed } from "./engine.ts";

/** How long people may take here. */
export const TTL_MS = 60_000;
export const BOSS: Decider = { name: "boss", mayDecide: true };

/** Approvals over a store in memory, with a clock that tests move and what they may change meanwhile. */
export function desk({
  tool = toolNamed("put", { level: "write" }),
  transport = fakeTransport(),
}: {
  tool?: RegisteredTool;
  transport?: ToolTransport & { sent: unknown[] };
} = {}) {
  const clock = { ms: 1_000_000 };
  const now = () => clock.ms;
  const { ledger, documents } = openSqlite(":memory:", now);
  const world = { tools: [tool], callers: [CALLER] as Caller[] };
  const notes: LedgerNote[] = [];
  const sessions = new SessionBook(documents, now, TTL_MS * 10);
  const writes = new Writes({ ledger, now, newId });
  const approvals = new Approvals({
    ledger,
    writes,
    transport,
    sessions,
    health: new ToolHealth(),
    registry: { snapshot: () => createSnapshot(1, world.tools) },
    findCaller: (name) => world.callers.find((caller) => caller.name === name),
    telemetry: { ledger: (note) => void notes.push(note) },
    ttlMs: TTL_MS,
    locale: "en",
    now,
  });

  let calls = 0;
  /** Asks for a call of the tool. */
  async function request(args: Record<string, string> = { city: "Oslo" }, change: Partial<LedgerEntry> = {}) {
    const callId = `c${++calls}`;
    const facts = { tool: tool.definition, args, caller: CALLER.name, sessionId: "s", isSessionNamed: true };
    const whose = { runId: "run1", callId, user: undefined, idempotencyKey: `run1:${callId}` };
    const entry = { ...approvals.proposal({ ...facts, ...whose }, "level"), ...change };
    await approvals.request(entry);
    return entry;
  }

  /** The entry when nothing more becomes of it by itself. */
  async function settled({ id }: Pick<LedgerEntry, "id">): Promise<LedgerEntry | undefined> {
    await writes.idle();
    return ledger.get(id);
  }
  return { approvals, ledger, writes, sessions, clock, world, notes, transport, request, settled };
}
