import { randomHex } from "../engine/new-id.ts";

/** The members of a `traceparent` header, ids in lower-case hexadecimal. */
export interface TraceContext {
  traceId: string;
  spanId: string;
  /** 1: the caller records this trace; 2: the trace id is random. */
  flags: number;
}

/** Both flags that the standard defines. The others must be zero in what is sent. */
const KNOWN_FLAGS = 3;

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header after W3C Trace Context (Level 2, section 3.2). A higher version is read as far as it is known.
 * `undefined` where the standard tells to start a new trace: wrong form, upper case, version ff, an id of zeros only.
 */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header ?? "") ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined)
    return undefined;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS };
}

/** The header for a context, in version 00. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${(flags & KNOWN_FLAGS).toString(16).padStart(2, "0")}`;
}

/** A trace of our own that nobody records, so its sampled flag is not set. */
export function newTrace(): TraceContext {
  const traceId = randomHex(16);
  // A span id need only differ from the others of its trace, and there is no other.
  return { traceId, spanId: traceId.slice(16), flags: 2 };
}
