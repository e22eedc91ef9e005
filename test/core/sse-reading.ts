import { createParser } from "eventsource-parser";
import { SseDecoder, type SseEvent } from "../../src/core/sse.ts";

/** An event as the standard's clients see it. */
export interface Dispatched {
  event: string;
  data: string;
}

/** Every event that a decoder hands out for the reads, before its end. */
export function readAll(reads: readonly Uint8Array[], decoder = new SseDecoder(1_000_000)): SseEvent[] {
  const events: SseEvent[] = [];
  for (const read of reads) {
    const bytes = Buffer.from(read);
    for (let at = 0; at < bytes.length; ) {
      at = decoder.read(bytes, at);
      if (decoder.event) events.push(decoder.event);
    }
  }
  return events;
}

/** What a client of the standard is told: events with data, and `message` where no name is given. */
export function dispatched(events: readonly SseEvent[]): Dispatched[] {
  return events.flatMap(({ event, data }) =>
    data === undefined ? [] : [{ event: event || "message", data }],
  );
}

/** The same by another implementation, which reads decoded text. */
export function oracle(bytes: Uint8Array): Dispatched[] {
  const events: Dispatched[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ event: event ?? "message", data }),
  });
  parser.feed(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  return events;
}

/** The bytes cut at the given offsets. */
export function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b);
  return [0, ...ends].map((from, place) => bytes.subarray(from, ends[place] ?? bytes.length));
}

/** The bytes one by one. */
export const singly = (bytes: Uint8Array) => cutAt(bytes, [...bytes.keys()]);
