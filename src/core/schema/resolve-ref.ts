import type { JsonObject, JsonValue } from "../json/value.ts";
import { step } from "./pointer.ts";

/** What a `$ref` points at, and where that stands. */
export interface RefTarget {
  readonly value: JsonValue;
  readonly pointer: string;
}

/**
 * Follows a `$ref` inside its own document: `#`, a JSON pointer fragment, an anchor, or any of them behind the document's
 * own `$id`. Only own members count. `"not local"` for another document, `undefined` for a place that is not there.
 */
export function resolveRef(
  root: JsonObject,
  anchors: ReadonlyMap<string, RefTarget>,
  ref: string,
): RefTarget | "not local" | undefined {
  const id = typeof root["$id"] === "string" ? root["$id"].replace(/#$/, "") : "";
  const local = id !== "" && ref.startsWith(id) ? ref.slice(id.length) || "#" : ref;
  if (!local.startsWith("#")) return "not local";
  const fragment = decode(local.slice(1));
  if (fragment === undefined) return undefined;
  if (fragment === "" || fragment.startsWith("/")) return resolvePointer(root, fragment);
  return anchors.get(fragment);
}

function resolvePointer(root: JsonObject, fragment: string): RefTarget | undefined {
  let value: JsonValue = root;
  let pointer = "";
  for (const token of fragment.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const child = memberOf(value, key);
    if (child === undefined) return undefined;
    value = child;
    pointer = step(pointer, key);
  }
  return { value, pointer };
}

function memberOf(value: JsonValue, key: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  return value[key];
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
