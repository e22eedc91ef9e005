import type { CallRecord, RunRecord } from "../src/engine/run-record.ts";
import type { Screen, Style } from "./screen.ts";

/** A progress event in a chunk of the stream, asked for with `x-toolweir-events: 1`. */
export interface ProgressEvent {
  type?: string;
  call_id?: string;
  name?: string;
  round?: number;
  [member: string]: unknown;
}

export interface RunViewOptions {
  screen: Screen;
  /** `GET /runs/{id}` of the run that is shown. */
  record(): Promise<RunRecord>;
  /** Seconds since the question was sent. */
  clock(): number;
}

/** Shows one run: its progress events as they come, and what its record says of gates, rounds and times. */
export class RunView {
  readonly #options: RunViewOptions;
  #round = 0;
  /** The last round whose model is known to have finished. */
  #answered = 0;
  /** The model is being asked: the next text belongs to a new round. */
  #asked = true;

  constructor(options: RunViewOptions) {
    this.#options = options;
  }

  /** A piece of text came. */
  async text(text: string): Promise<void> {
    if (this.#asked) {
      const at = this.#options.clock();
      this.#startRound(at, (await this.#options.record()).rounds.length);
    }
    this.#options.screen.client(text);
  }

  /** A progress event came. */
  async event(event: ProgressEvent): Promise<void> {
    const at = this.#options.clock();
    this.#startRound(at, event.round ?? this.#round);
    const name = String(event.name);
    switch (event.type) {
      case "tool.args":
        return this.#say(at, `${name}  ${event["path"]} = ${JSON.stringify(event["value"])}`, "dim");
      case "tool.started":
        return this.#gates(at, event);
      case "tool.rejected":
        await this.#gates(at, event);
        this.#asked = true;
        return this.#say(undefined, `told the model: ${event["message"]}`, "yellow");
      case "tool.retry":
        return this.#say(at, `${name} again in ${event["delay_ms"]} ms: ${event["error_kind"]}`, "yellow");
      case "tool.completed":
        this.#asked = true;
        return this.#say(at, `${name} answered in ${event["duration_ms"]} ms${tries(event)}`, "green");
      case "tool.failed":
        this.#asked = true;
        return this.#say(at, `${name} failed: ${event["error_kind"]}${tries(event)}`, "red");
      default:
        return this.#say(at, `${event.type}  ${name}`, "yellow");
    }
  }

  /** The run is over: says how its last round went, and what it came to. */
  async end(): Promise<void> {
    const at = this.#options.clock();
    const record = await this.#options.record();
    this.#modelAnswered(at, record);
    const calls = record.rounds.flatMap((round) => round.calls);
    const outcomes = Object.entries(Object.groupBy(calls, ({ outcome }) => outcome));
    const counted = outcomes.map(([outcome, list]) => `${list?.length} ${outcome}`).join(", ");
    const total = Date.parse(record.ended_at ?? "") - Date.parse(record.started_at);
    const model = record.rounds.reduce((sum, round) => sum + round.duration_ms, 0);
    const rounds = `${record.rounds.length} ${record.rounds.length === 1 ? "round" : "rounds"}`;
    const ended = `${record.stop_reason}: ${rounds}, ${calls.length} calls${counted && ` (${counted})`}`;
    this.#say(at, ended, "bold");
    this.#say(undefined, `${total} ms, of them ${model} ms waiting for the model`);
  }

  #startRound(at: number, round: number): void {
    this.#asked = false;
    if (round <= this.#round) return;
    this.#round = round;
    this.#say(at, `round ${round}`, "bold");
  }

  /** What the gates said of a call, and before it when and why the model stopped. */
  async #gates(at: number, { call_id, type, name }: ProgressEvent): Promise<void> {
    const record = await this.#options.record();
    this.#modelAnswered(at, record);
    const call = record.rounds.flatMap(({ calls }) => calls).find((entry) => entry.call_id === call_id);
    const verdicts = (call?.gates ?? []).map(({ gate, pass }) => `${pass ? "✓" : "✗"} ${gate}`).join(" ");
    const isSent = type === "tool.started";
    this.#say(at, `${name}  ${verdicts}${isSent ? " → sent" : ""}`, isSent ? "cyan" : "red");
    for (const change of changesOf(call)) this.#say(undefined, change, "yellow");
  }

  /** Says of every round that came to its end since the last look how the model ended it. */
  #modelAnswered(at: number, record: RunRecord): void {
    for (const { round, finish_reason, duration_ms, usage } of record.rounds.slice(this.#answered)) {
      if (finish_reason === "") return;
      this.#answered = round;
      const { prompt_tokens: read, completion_tokens: written } = usage ?? {};
      const tokens = read === undefined ? "" : `, ${read} + ${written} tokens`;
      this.#say(at, `model: ${finish_reason} after ${duration_ms} ms${tokens}`);
    }
  }

  #say(at: number | undefined, text: string, style?: Style): void {
    this.#options.screen.gateway(at, text, style);
  }
}

function changesOf(call: CallRecord | undefined): string[] {
  return (call?.gates ?? []).flatMap(({ gate, changes }) =>
    (changes ?? []).map(({ path, from, to }) => {
      return `${gate} changed ${path.slice(1)}: ${JSON.stringify(from)} → ${to === undefined ? "left out" : JSON.stringify(to)}`;
    }),
  );
}

function tries({ attempts }: ProgressEvent): string {
  return Number(attempts) > 1 ? `, ${attempts} attempts` : "";
}
