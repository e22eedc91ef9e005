import type { Gate } from "./gate.ts";

/** Gate 3: the tool's own rules. A definition cannot carry rules in this version, so there is nothing to object to. */
export const rulesGate: Gate = {
  name: "rules",
  check: () => ({ gate: "rules", pass: true }),
};
