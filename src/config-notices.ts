import type { Settings } from "./config-schema.ts";

/** Sentences about settings that have no effect, though nothing is wrong with them. */
export function notices({ auth }: Settings, mode: "keys" | "none"): string[] {
  if (mode !== "none" || auth.keys.length === 0) return [];
  return ["auth.keys has no effect, because auth.mode is none."];
}
