import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const SHARED = new URL("../../../shared/", import.meta.url);

/** The rows of a gzipped file of JSON lines in the shared folder beside the repository; `undefined` if it is not there. */
export function sharedRows<Row>(path: string): Row[] | undefined {
  const url = new URL(path, SHARED);
  if (!existsSync(url)) return undefined;
  const lines = gunzipSync(readFileSync(url)).toString().split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Row);
}

/** For `skip` of a test: `false`, or why it cannot run. */
export function skipWithout(rows: unknown, path: string): false | string {
  return rows === undefined ? `../shared/${path} is not there` : false;
}
