import { randomFillSync } from "node:crypto";

/** Random bytes in stock: asking the system for every id would cost more than all the rest of it. */
const stock = Buffer.alloc(4096);
let used = stock.length;

/** Random lower-case hexadecimal digits, two for each byte; at most 64 bytes. */
export function randomHex(bytes: number): string {
  if (used + bytes > stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  used += bytes;
  return stock.toString("hex", used - bytes, used);
}

/** An id of 128 random bits behind a prefix such as `run_`. */
export function newId(prefix: string): string {
  return prefix + randomHex(16);
}
