import type { GateName } from "../gates/gate.ts";

/** Why a call was not run, without the words for the model. */
export interface Refused {
  /** Absent where no gate was asked. */
  gate?: GateName;
  code: string;
  problem: string;
  /** JSON pointer of the parameter. */
  path?: string;
  rule?: string;
}

/** How a chain of corrections ended. */
export type CorrectionOutcome = "corrected" | "gave_up" | "abandoned";

/** What a call of a tool came to, as far as it counts here; `refused` is undefined for a call that passed its gates. */
export interface CountedCall {
  name: string;
  refused: Refused | undefined;
}

interface Tally {
  /** Refusals without a pass between them. */
  inARow: number;
  /** How often the latest problem was told in a row. */
  same: number;
  problem: string;
  /** A chain is open: the model was told what is wrong with its arguments and may correct them. */
  isOpen: boolean;
}

/** Refusals that are about the run, or about another call. */
const OF_THE_RUN: ReadonlySet<string> = new Set([
  "tool_calls",
  "tools_phase",
  "stopped",
  "dependency",
  "rate",
  "quota",
  "session_unknown",
]);

/**
 * Counts what a model is told about calls that were not run, by tool, and how its corrections end.
 *
 * 1. A chain opens with a refusal of arguments: syntax, schema, rules, or a repaired text that must be sent again. It ends `corrected`
 *    when a call of that tool in a later round passes those gates, `gave_up` when the limit is reached, and `abandoned` at
 *    the end of the run.
 * 2. The limit is reached when one problem of a tool was told `limit` times in a row, or any problems twice as often. Two problems
 *    are the same if they are of one kind and about one parameter, whatever the value was.
 * 3. Refusals of other kinds (unknown names, approvals) count towards the limit and open no chain; what only the run's own
 *    limits, the end of a stopped reply or the failure of another call kept from running does neither.
 */
export class Corrections {
  readonly #limit: number;
  readonly #onEnded: (outcome: CorrectionOutcome) => void;
  readonly #tallies = new Map<string, Tally>();
  #isSpent = false;

  constructor(limit: number, onEnded: (outcome: CorrectionOutcome) => void) {
    this.#limit = limit;
    this.#onEnded = onEnded;
  }

  /** Some tool has been corrected as often as it may: the model gets no further tools. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Takes in all calls of a round. What passes beside a refusal does not correct it. */
  count(calls: readonly CountedCall[]): void {
    for (const { name, refused } of calls) {
      if (passed(refused)) this.#close(name);
      if (!refused) this.#tallies.delete(name);
    }
    for (const { name, refused } of calls) {
      if (refused && !OF_THE_RUN.has(refused.problem)) this.#refuse(name, refused);
    }
  }

  /** The run is over. */
  end(): void {
    for (const { isOpen } of this.#tallies.values()) if (isOpen) this.#onEnded("abandoned");
    this.#tallies.clear();
  }

  #close(name: string): void {
    const tally = this.#tallies.get(name);
    if (!tally?.isOpen) return;
    tally.isOpen = false;
    this.#onEnded("corrected");
  }

  #refuse(name: string, refused: Refused): void {
    const { code, problem, path = "", rule = "" } = refused;
    const key = [code, problem, path, rule].join(" ");
    const before = this.#tallies.get(name);
    const tally = {
      inARow: (before?.inARow ?? 0) + 1,
      same: before?.problem === key ? before.same + 1 : 1,
      problem: key,
      isOpen: isCorrectable(refused) || before?.isOpen === true,
    };
    this.#tallies.set(name, tally);
    if (tally.same < this.#limit && tally.inARow < 2 * this.#limit) return;
    this.#isSpent = true;
    if (!tally.isOpen) return;
    this.#onEnded("gave_up");
    tally.isOpen = false;
  }
}

/** Whether the model can mend it by other arguments. */
function isCorrectable({ gate, code, problem }: Refused): boolean {
  if (gate === undefined || code === "check_unavailable") return false;
  return gate !== "context" || problem === "repaired";
}

/** Whether the arguments were good, also where something else kept the call from running. */
function passed(refused: Refused | undefined): boolean {
  if (!refused) return true;
  return refused.problem === "tools_phase" || (refused.gate === "context" && !isCorrectable(refused));
}
