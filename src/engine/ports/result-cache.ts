import type { ToolReply } from "./tools.ts";

/** Answers of tools that are given again. Losing one costs a request and nothing else. */
export interface ResultCache {
  /** `undefined` if there is none, it has expired, or the cache does not answer. */
  get(key: string): Promise<ToolReply | undefined>;
  /** Keeps the answer for `ttlMs`; it may be dropped before. */
  set(key: string, reply: ToolReply, ttlMs: number): Promise<void>;
}
