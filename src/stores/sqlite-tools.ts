import type { DatabaseSync } from "node:sqlite";
import type { ToolDefinition } from "../core/tool.ts";
import type { StoredTool, ToolStore } from "../engine/ports/stores.ts";
import { guarded } from "./sqlite-guard.ts";

/** One change of a name. `definition` is null where the change was a deletion: that row keeps the number from coming back. */
interface VersionRow {
  version: number;
  definition: string | null;
  updated_at: number;
}

interface LiveRow extends VersionRow {
  definition: string;
}

const isLive = (row: VersionRow | undefined): row is LiveRow => typeof row?.definition === "string";

function toStored({ version, definition, updated_at }: LiveRow): StoredTool {
  const body = JSON.parse(definition) as Omit<ToolDefinition, "version">;
  return { definition: { ...body, version }, updatedAt: updated_at };
}

/** The tools in an open database. The statements run to their end within one call, so that nothing comes between them. */
export function sqliteTools(db: DatabaseSync, now: () => number): ToolStore {
  const columns = "version, definition, updated_at";
  const all = db.prepare(
    `SELECT ${columns} FROM tool_version AS latest WHERE definition IS NOT NULL
     AND version = (SELECT max(version) FROM tool_version WHERE name = latest.name) ORDER BY name`,
  );
  const latest = db.prepare(
    `SELECT ${columns} FROM tool_version WHERE name = ? ORDER BY version DESC LIMIT 1`,
  );
  const history = db.prepare(
    `SELECT ${columns} FROM tool_version WHERE name = ? AND definition IS NOT NULL ORDER BY version`,
  );
  const append = db.prepare(
    "INSERT INTO tool_version (name, version, definition, updated_at) VALUES (?, ?, ?, ?)",
  );

  const rowOf = (name: string) => latest.get(name) as VersionRow | undefined;
  const liveVersion = (row: VersionRow | undefined) => (isLive(row) ? row.version : 0);

  return {
    async list() {
      return guarded(() => (all.all() as unknown as LiveRow[]).map(toStored));
    },
    async get(name) {
      const row = guarded(() => rowOf(name));
      return isLive(row) ? toStored(row) : undefined;
    },
    async put(definition, expectedVersion) {
      return guarded(() => {
        const row = rowOf(definition.name);
        if (expectedVersion !== undefined && expectedVersion !== liveVersion(row)) return undefined;
        const version = (row?.version ?? 0) + 1;
        const updatedAt = now();
        append.run(definition.name, version, JSON.stringify(definition), updatedAt);
        return { definition: { ...definition, version }, updatedAt };
      });
    },
    async delete(name, expectedVersion) {
      return guarded(() => {
        const row = rowOf(name);
        if (!isLive(row) || (expectedVersion !== undefined && expectedVersion !== row.version)) return false;
        append.run(name, row.version + 1, null, now());
        return true;
      });
    },
    async versions(name) {
      return guarded(() => (history.all(name) as unknown as LiveRow[]).map(toStored));
    },
  };
}
