import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a reader is expected to find. */
export interface Expected {
  content: string | null;
  reasoning: string | null;
  tool_calls: { name: string; arguments?: unknown; arguments_raw?: string; id?: string }[];
  incomplete?: { name: string; arguments_prefix: string }[];
}

/** One text of a model, with what is in it. */
export interface Fixture {
  id: string;
  format: string;
  text: string;
  tools: { function: { name: string; parameters?: Record<string, unknown> } }[];
  expect: Expected;
  alt?: Expected[];
  splits?: (number | number[])[];
  options?: { reasoning_prefilled?: boolean };
}

const FOLDER = join(import.meta.dirname, "../../../../../shared/formats");

/** The shared samples; `undefined` where the folder is absent. */
export function sharedFixtures(): Fixture[] | undefined {
  if (!existsSync(FOLDER)) return undefined;
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".json"));
  return files.flatMap((file) => JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Fixture[]);
}
