import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { ProviderStream } from "./quirky-streams.ts";

const FILE = new URL("../../../../shared/data/streams/chat_with_tool_calls.jsonl.gz", import.meta.url);
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

interface Row {
  id: string;
  provider: string;
  stream: string;
  content: string;
  finish_reason: string | null;
  calls: { choice: number; name: string; arguments_text: string; json_ok: boolean }[];
  quirks: string[];
}

/** Recorded streams of real providers, spread evenly over the whole collection; `undefined` where there is none. */
export function recordedStreams(count: number): ProviderStream[] | undefined {
  if (!existsSync(FILE)) return undefined;
  const rows = gunzipSync(readFileSync(FILE))
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row)
    .filter(isPlain)
    .sort((a, b) => a.provider.localeCompare(b.provider));
  const step = rows.length / count;
  return Array.from({ length: Math.min(count, rows.length) }, (_, at) => rows[Math.floor(at * step)])
    .filter((row) => row !== undefined)
    .map((row) => ({
      name: `${row.provider} ${row.id} (${row.quirks.join(", ") || "plain"})`,
      body: row.stream,
      text: row.content,
      calls: row.calls.map(({ name, arguments_text }) => ({
        name,
        args: JSON.parse(arguments_text || "{}"),
      })),
    }));
}

/** A whole reply with one choice, whose calls have objects as arguments and names that the registry takes. */
function isPlain({ finish_reason, calls, quirks }: Row): boolean {
  return (
    (finish_reason === "tool_calls" || finish_reason === "stop") &&
    !quirks.includes("error-in-stream") &&
    calls.every(({ choice, name, json_ok }) => choice === 0 && json_ok && TOOL_NAME.test(name)) &&
    calls.every(({ arguments_text }) => arguments_text.trim() !== "null")
  );
}
