import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { checkNode } from "./check-node.ts";
import type { Patterns } from "./pattern.ts";
import { step } from "./pointer.ts";
import { type RefTarget, resolveRef } from "./resolve-ref.ts";
import { KEYWORDS, type KeywordKind } from "./schema-node.ts";
import type { FaultList } from "./schema-rejected.ts";

/** How many subschemas a schema may hold. */
const MAX_NODES = 2_000;
/** How deep subschemas may stand inside each other. */
const MAX_DEPTH = 32;

/** What a walk found: where every `$ref` leads, by its text. */
export interface WalkResult {
  readonly refs: ReadonlyMap<string, RefTarget>;
}

interface Visit {
  readonly value: JsonValue | undefined;
  readonly pointer: string;
  readonly depth: number;
}

/**
 * Visits every subschema once, without recursion, and lists what no tool schema may hold. It makes no assumption about the
 * shape of the document; a keyword of the wrong type is the meta-schema's business.
 */
export function walkSchema(root: JsonObject, faults: FaultList, patterns: Patterns): WalkResult {
  return new Walk(root, faults, patterns).run();
}

class Walk {
  readonly #root: JsonObject;
  readonly #faults: FaultList;
  readonly #patterns: Patterns;
  readonly #stack: Visit[];
  readonly #seen = new Set<JsonObject>();
  readonly #anchors = new Map<string, RefTarget>();
  readonly #pending: { ref: string; pointer: string }[] = [];
  readonly #refs = new Map<string, RefTarget>();

  constructor(root: JsonObject, faults: FaultList, patterns: Patterns) {
    this.#root = root;
    this.#faults = faults;
    this.#patterns = patterns;
    this.#stack = [{ value: root, pointer: "", depth: 1 }];
  }

  run(): WalkResult {
    while (this.#stack.length > 0) {
      for (let next = this.#stack.pop(); next !== undefined; next = this.#stack.pop()) {
        if (this.#seen.size > MAX_NODES) {
          this.#faults.add("", "too_many_nodes", `holds more than ${MAX_NODES} subschemas.`);
          return { refs: this.#refs };
        }
        this.#visit(next);
      }
      // Only now is every anchor known.
      for (const { ref, pointer } of this.#pending.splice(0)) this.#follow(ref, pointer);
    }
    return { refs: this.#refs };
  }

  #visit({ value, pointer, depth }: Visit): void {
    if (!isObject(value) || this.#seen.has(value)) return;
    if (depth > MAX_DEPTH) {
      this.#faults.add(pointer, "too_deep", `stands deeper than ${MAX_DEPTH} subschemas.`);
      return;
    }
    this.#seen.add(value);
    checkNode(value, pointer, this.#faults, this.#patterns);
    if (typeof value["$anchor"] === "string") this.#anchors.set(value["$anchor"], { value, pointer });
    if (typeof value["$ref"] === "string") this.#pending.push({ ref: value["$ref"], pointer });
    for (const [keyword, kind] of KEYWORDS) {
      if (Object.hasOwn(value, keyword))
        this.#pushChildren(value[keyword], kind, step(pointer, keyword), depth);
    }
  }

  #pushChildren(value: JsonValue | undefined, kind: KeywordKind, pointer: string, depth: number): void {
    if (kind === "value" || typeof value !== "object" || value === null) return;
    const asList = kind === "list" || (kind === "one or list" && Array.isArray(value));
    if (kind === "one" || (kind === "one or list" && !asList)) {
      this.#stack.push({ value, pointer, depth: depth + 1 });
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      this.#stack.push({ value: child, pointer: step(pointer, key), depth: depth + 1 });
    }
  }

  #follow(ref: string, pointer: string): void {
    const place = step(pointer, "$ref");
    const target = this.#refs.get(ref) ?? resolveRef(this.#root, this.#anchors, ref);
    if (target === "not local") {
      this.#faults.add(
        place,
        "ref_not_local",
        "refers to another document; only references inside this schema are followed.",
      );
    } else if (target === undefined || (typeof target.value !== "boolean" && !isObject(target.value))) {
      this.#faults.add(place, "ref_unresolved", "refers to a place where no schema is.");
    } else {
      this.#refs.set(ref, target);
      this.#stack.push({ value: target.value, pointer: target.pointer, depth: 1 });
    }
  }
}
