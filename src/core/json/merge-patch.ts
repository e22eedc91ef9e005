import { isObject, type JsonObject, type JsonValue, setMember } from "./value.ts";

/** JSON Merge Patch (RFC 7396): the target with the patch applied. Neither of the two is changed. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const before = isObject(target) ? target : {};
  const merged: JsonObject = {};
  for (const [key, value] of Object.entries(before)) {
    if (!Object.hasOwn(patch, key)) setMember(merged, key, value);
  }
  for (const [key, change] of Object.entries(patch)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (change !== null) setMember(merged, key, mergePatch(old, change));
  }
  return merged;
}
