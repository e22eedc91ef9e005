import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { isObject, readJson } from "./json.ts";

/** One write at the socket, or a pause. */
export type BodyChunk = string | { hex: string } | { repeat: string; times: number } | { delay_ms: number };

/** One scripted answer of a server. */
export interface Turn {
  status?: number;
  headers?: Record<string, string>;
  body_chunks?: readonly BodyChunk[];
  /** Before the head. */
  delay_ms?: number;
  /** `close` (default) ends the answer, `reset` breaks the connection, `hang` leaves it open. */
  end?: "close" | "reset" | "hang";
}

export interface CaseTool {
  type: string;
  function: { name: string; description?: string; parameters?: JsonObject };
}

/** A call as a case expects it. */
export interface ExpectedCall {
  name: string;
  arguments?: JsonValue;
}

/** What a replay is judged by. What else stands in an expectation is for readers. */
export interface Expectation {
  arguments?: JsonValue;
  /** As good as the error, from a gateway that repairs. */
  if_repaired?: JsonValue;
  error_kind?: string | null;
  must_mention?: readonly string[];
  must_mention_any?: readonly string[];
  content?: string | null;
  tool_calls?: readonly ExpectedCall[];
  rejected_calls?: readonly { name: string; must_mention?: readonly string[] }[];
  finish_reason?: string;
  client_status?: number;
}

/** A case as its file has it. */
export interface CaseFile {
  id: string;
  area?: string;
  request?: JsonObject;
  tools?: readonly CaseTool[];
  /** Names of those of `tools` that the client brings. */
  client_tools?: readonly string[];
  upstream?: Turn;
  upstream_turns?: readonly Turn[];
  tool_http?: Readonly<Record<string, Turn | { by_arguments: readonly (Turn & { when: JsonValue })[] }>>;
  /** A text, or pieces with how often each is repeated. */
  arguments_text?: string | { repeat: readonly (readonly [string, number])[] };
  parameters?: JsonObject;
  expect: Expectation & { alternatives?: readonly Expectation[] };
}

/** The cases of a folder, by file name. Throws an `Error` that names the file which is none. */
export function readCases(folder: string): CaseFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => readCase(join(folder, name)));
}

function readCase(file: string): CaseFile {
  try {
    const value = readJson(readFileSync(file, "utf8"));
    if (isObject(value) && typeof value["id"] === "string" && isObject(value["expect"])) {
      return value as unknown as CaseFile;
    }
    throw new Error('a case is an object with "id" and "expect"');
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}
