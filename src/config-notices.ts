import type { Settings } from "./config-schema.ts";

/** Sentences about settings that have no effect, though nothing is wrong with them. */
export function notices({ auth }: Settings, mode: "keys" | "none"): string[] {
  const idle = (path: string) => `${path} has no effect in this version.`;
  const list = auth.keys.flatMap(({ rate }, index) => (rate ? [idle(`auth.keys[${index}].rate`)] : []));
  if (mode === "none" && auth.keys.length > 0) {
    list.push("auth.keys has no effect, because auth.mode is none.");
  }
  return list;
}
