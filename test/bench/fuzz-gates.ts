/**
 * Looks for a call that the gates judge differently in fragments and whole, or too slowly, or with an exception.
 *
 * Run by hand: `node test/bench/fuzz-gates.ts --seconds 60`; `--seed` repeats a run. It prints how many calls came to what.
 */
import { parseArgs } from "node:util";
import { fuzzGates } from "../support/gate-fuzz.ts";

const { values } = parseArgs({ options: { seconds: { type: "string" }, seed: { type: "string" } } });
const seed = values.seed === undefined ? Date.now() : Number(values.seed);
console.log(`seed ${seed}`);
const { counts, slowestMs } = fuzzGates(Number(values.seconds ?? 60), seed);
for (const [what, count] of Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${String(count).padStart(8)}  ${what}`);
}
const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
console.log(`${String(total).padStart(8)}  in all; the slowest took ${slowestMs.toFixed(1)} ms`);
