import { hash } from "node:crypto";
import type { JsonObject } from "../../core/json/value.ts";
import { READ_RESULT } from "../../core/tool.ts";
import { checkToolDefinition } from "../../core/tool-definition.ts";
import { GatewayError } from "../../errors.ts";
import type { DocumentStore } from "../ports/stores.ts";
import { ToolFailure, type ToolReply } from "../ports/tools.ts";
import { type RegisteredTool, toRegistered } from "../registry/tool-snapshot.ts";
import { type ReadAnswer, type ReadArguments, readStored } from "./read-stored.ts";
import { READ_TEXTS } from "./read-texts.ts";
import type { Locale } from "./result-text.ts";
import type { StoredText } from "./summary.ts";

/** Whose a stored result is: nobody else finds it. */
export interface ResultOwner {
  caller: string;
  user: string | undefined;
  /** Absent where the client named none. */
  session: string | undefined;
}

export interface StoredResultsOptions {
  /** How long a result is kept. */
  ttlMs: number;
  locale: Locale;
}

/** A reference wherever it stands in a text. */
const REFERENCE = /\bres_[0-9a-f]{32}\b/gu;

/** Whether a text is a reference and nothing else. */
export function isReference(text: unknown): text is string {
  return typeof text === "string" && text.match(REFERENCE)?.[0] === text;
}
/** Every reference begins with this. */
export const REFERENCE_PREFIX = "res_";
/** How many references of a conversation are looked up at most, the last ones first. */
const MAX_LOOKUPS = 4;
/** Bytes of an answer to `read_result`, and of them for what is around the part that was read. */
const MAX_BYTES = 16_384;
const AROUND_BYTES = 1_024;

/** Results that are too long for a message, and the tool that reads them. */
export class StoredResults {
  /** `read_result`, which is answered here. */
  readonly tool: RegisteredTool;
  readonly #documents: DocumentStore;
  readonly #options: StoredResultsOptions;

  constructor(documents: DocumentStore, options: StoredResultsOptions) {
    this.#documents = documents;
    this.#options = options;
    this.tool = readResultTool(options.locale, (args, owner) => this.#read(args, owner));
  }

  /** Stores a result for its owner; `false` if the store does not take it. */
  async keep(owner: ResultOwner, { reference, ...stored }: StoredText): Promise<boolean> {
    try {
      const options = { ttlMs: this.#options.ttlMs };
      return (await this.#documents.put("result", keyOf(owner, reference), stored, options)) !== undefined;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }

  /** Whether one of the references in these texts can be read by this owner; a store that does not answer knows none. */
  async knowsAny(owner: ResultOwner, texts: readonly string[]): Promise<boolean> {
    const references = new Set(texts.flatMap((text) => text.match(REFERENCE) ?? []).reverse());
    for (const reference of [...references].slice(0, MAX_LOOKUPS)) {
      if (await this.#find(owner, reference).catch(noStore)) return true;
    }
    return false;
  }

  async #find(owner: ResultOwner, reference: string): Promise<Omit<StoredText, "reference"> | undefined> {
    const found = await this.#documents.get("result", keyOf(owner, reference));
    return found?.value as Omit<StoredText, "reference"> | undefined;
  }

  async #read({ reference, ...args }: JsonObject, owner: ResultOwner): Promise<ToolReply> {
    const { locale, ttlMs } = this.#options;
    const stored = await this.#find(owner, String(reference)).catch((error: unknown) => {
      if (error instanceof GatewayError) throw new ToolFailure("unreachable", "the store does not answer");
      throw error;
    });
    const minutes = Math.ceil(ttlMs / 60_000);
    if (!stored) return replyOf({ fault: READ_TEXTS[locale].unknown(minutes) });
    return replyOf(readStored(stored, args as ReadArguments, MAX_BYTES - AROUND_BYTES, locale));
  }
}

function noStore(error: unknown): undefined {
  if (!(error instanceof GatewayError)) throw error;
}

/** Another owner's key is another one, so that a reference alone finds nothing. */
function keyOf({ caller, user, session }: ResultOwner, reference: string): string {
  const owner = hash("sha256", JSON.stringify([caller, user ?? null, session ?? null]));
  return `${owner.slice(0, 32)}:${reference}`;
}

function replyOf(answer: ReadAnswer): ToolReply {
  const body =
    "fault" in answer
      ? JSON.stringify({ success: false, error: answer.fault })
      : `{${answer.members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
  return {
    status: 200,
    contentType: "application/json",
    body: Buffer.from(body),
    truncated: false,
    retryAfterMs: undefined,
  };
}

function readResultTool(
  locale: Locale,
  local: (args: JsonObject, owner: ResultOwner) => Promise<ToolReply>,
): RegisteredTool {
  const { description, parameters: say } = READ_TEXTS[locale];
  const whole = (about: string, minimum: number) => ({ type: "integer", minimum, description: about });
  const text = (about: string, maxLength: number) => ({
    type: "string",
    minLength: 1,
    maxLength,
    description: about,
  });
  const { definition, ...checked } = checkToolDefinition({
    // A stand-in: nobody can register a tool of the real name.
    name: "stand_in",
    description,
    parameters: {
      type: "object",
      properties: {
        reference: text(say.reference, 64),
        path: text(say.path, 512),
        search: text(say.search, 200),
        offset: whole(say.offset, 0),
        limit: whole(say.limit, 1),
      },
      required: ["reference"],
    },
    http: { method: "GET", url: "http://localhost/" },
    level: "read",
    retry: 0,
    parallel_safe: true,
    result: { max_bytes: MAX_BYTES },
  });
  const named = { ...checked, definition: { ...definition, name: READ_RESULT } };
  return { ...toRegistered(named, { version: 1, updatedAt: 0, etag: '"local"' }), local };
}
