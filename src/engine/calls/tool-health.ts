import type { ToolDefinition } from "../../core/tool.ts";
import { ToolFailure, type ToolReply } from "../ports/tools.ts";
import type { ToolErrorKind } from "./attempt.ts";
import { Health } from "./health.ts";

/** What one attempt brought, as far as it tells whether the tool is well. */
export interface Attempted {
  reply?: ToolReply;
  failure?: ToolFailure;
  errorKind?: ToolErrorKind;
}

/** The health of tools, each definition on its own: a changed tool begins afresh. */
export class ToolHealth {
  readonly #tended = new WeakMap<ToolDefinition, Health>();
  readonly #onOpen: (tool: string) => void;
  readonly #now: () => number;

  /** `onOpen` is told the name of a tool that is not asked any more. `now` gives milliseconds that do not go backwards. */
  constructor(onOpen: (tool: string) => void = () => {}, now: () => number = () => performance.now()) {
    this.#onOpen = onOpen;
    this.#now = now;
  }

  /** Makes one attempt, or answers for the tool with the failure `unavailable`. `first` tells a call from its retries. */
  async attempt(tool: ToolDefinition, first: boolean, attempt: () => Promise<Attempted>): Promise<Attempted> {
    const ended = this.#of(tool).begin(first);
    if (!ended) {
      const failure = new ToolFailure("unavailable", "too many calls of it failed");
      return { failure, errorKind: "transient" };
    }
    const attempted = await attempt();
    if (saysSomething(attempted)) ended(isIll(attempted));
    return attempted;
  }

  /** Whether another retry of this tool may be made now; if so it is counted. */
  mayRetry(tool: ToolDefinition): boolean {
    return this.#of(tool).mayRetry();
  }

  /** Whether the tool is not asked at present. */
  isLeftAlone(tool: ToolDefinition): boolean {
    return this.#tended.get(tool)?.isLeftAlone ?? false;
  }

  #of(tool: ToolDefinition): Health {
    const known = this.#tended.get(tool);
    if (known) return known;
    const health = new Health(() => this.#onOpen(tool.name), this.#now);
    this.#tended.set(tool, health);
    return health;
  }
}

/** Who left and what was never sent show nothing about the server. */
function saysSomething({ errorKind, failure }: Attempted): boolean {
  return errorKind !== "cancelled" && failure?.kind !== "invalid_request";
}

/** What the caller did wrong or the tool decided shows that it is there. */
const isIll = ({ errorKind }: Attempted): boolean => errorKind === "transient" || errorKind === "timeout";
