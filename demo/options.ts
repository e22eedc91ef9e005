import { parseArgs } from "node:util";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the command line and, for a real model, the environment ask for. */
export interface DemoOptions {
  /** End after the question. */
  once: boolean;
  model: string;
  /** The real model server; `undefined`: the scripted one. */
  real: { url: string; key: string } | undefined;
}

/** Something that the user can put right; its message is one line for them. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const OPENAI_URL = "https://api.openai.com/v1";

/**
 * Reads `--once`, `--real` and `--model NAME`. Only with `--real` are `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` looked
 * at. Throws `UsageError`.
 */
export function demoOptions(args: readonly string[], env: Environment): DemoOptions {
  const { once = false, real = false, model } = parsed(args);
  if (!real) return { once, model: model ?? "scripted-model", real: undefined };
  const key = env["OPENAI_API_KEY"];
  if (!key) {
    throw new UsageError("--real needs OPENAI_API_KEY (any text, for a model server that asks for none).");
  }
  const url = env["OPENAI_BASE_URL"] || OPENAI_URL;
  return { once, model: model ?? (env["OPENAI_MODEL"] || "gpt-4o-mini"), real: { url, key } };
}

function parsed(args: readonly string[]): { once?: boolean; real?: boolean; model?: string } {
  try {
    const options = {
      once: { type: "boolean" },
      real: { type: "boolean" },
      model: { type: "string" },
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${why} The demo knows --once, --real and --model NAME.`);
  }
}
