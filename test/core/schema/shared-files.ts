import { existsSync, readdirSync, readFileSync } from "node:fs";

const SHARED = new URL("../../../../shared/", import.meta.url);

/** The text of a file in the shared folder beside the repository; `undefined` if it is not there. */
export function sharedText(path: string): string | undefined {
  const url = new URL(path, SHARED);
  return existsSync(url) ? readFileSync(url, "utf8") : undefined;
}

/** The names in a folder beside the repository; `undefined` if it is not there. */
export function sharedNames(path: string): string[] | undefined {
  const url = new URL(path, SHARED);
  return existsSync(url) ? readdirSync(url).sort() : undefined;
}

/** For `skip` of a test: `false`, or why it cannot run. */
export function skipWithout(found: unknown, path: string): false | string {
  return found === undefined ? `../shared/${path} is not there` : false;
}
