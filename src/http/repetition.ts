import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { stringifyJson } from "../core/json/stringify.ts";
import type { JsonValue } from "../core/json/value.ts";
import type { AnswerKey, Claim, Earlier, KeptAnswer, KeptAnswers } from "../engine/answer/kept-answers.ts";
import type { RunWatch } from "../engine/run-options.ts";
import { GatewayError } from "../errors.ts";
import type { SseSink } from "./sse-sink.ts";

const IDEMPOTENCY_KEY = /^[A-Za-z0-9_.:-]{1,255}$/;
/** The largest answer that is kept, in UTF-16 units. */
const MAX_KEPT = 1024 * 1024;
const KEYED_MS = 24 * 60 * 60 * 1000;
/** SDKs have given up repeating a request long before. */
const UNKEYED_MS = 10 * 60 * 1000;

/**
 * One request that may be a repetition of an earlier one, and may be repeated itself.
 *
 * 1. With `Idempotency-Key` the first request is answered, every other one gets that answer.
 * 2. Without it a run that asks a tool that may change something is known by caller, session header and body for 10 minutes: a
 *    request that says of itself that it is a retry of an SDK (`x-stainless-retry-count`) gets the answer of that run.
 * 3. Kept are complete answers, and errors after something may have been changed. Any other failure may be repeated.
 */
export class Repetition implements RunWatch {
  readonly #answers: KeptAnswers;
  readonly #request: FastifyRequest;
  readonly #runId: string;
  #claim: Claim | undefined;
  /** What has been sent, once it may have to be sent again. */
  #frames: string[] | undefined;
  #sink: SseSink | undefined;
  #length = 0;
  #stopReason = "";
  readonly #key: AnswerKey | undefined;

  /** Every request with the same `key` is the same request; without one it is what the request says. */
  constructor(request: FastifyRequest, reply: FastifyReply, answers: KeptAnswers, key?: AnswerKey) {
    this.#key = key;
    this.#answers = answers;
    this.#request = request;
    this.#runId = String(reply.getHeader("x-toolweir-run-id"));
  }

  /**
   * The answer of an earlier request that this one repeats, if it does. Throws `invalid_idempotency_key`, and while the earlier
   * one is still being answered `idempotency_in_progress` or `run_in_progress`.
   */
  async earlier(): Promise<Earlier | undefined> {
    const { headers } = this.#request;
    const key = this.#key ?? givenKey(this.#request);
    if (!key) {
      const isRetry = Number(headers["x-stainless-retry-count"]) >= 1;
      return isRetry ? this.#answers.find(impliedKey(this.#request)) : undefined;
    }
    const begun = await this.#answers.begin(key, this.#runId);
    if ("answer" in begun) return begun;
    this.#claim = begun;
    this.#frames = [];
    return undefined;
  }

  mayWrite(): void {
    this.#frames ??= [];
    if (this.#sink) this.listenTo(this.#sink);
  }

  async writing(): Promise<void> {
    if (this.#claim) await this.#claim.write();
    else this.#claim = await this.#answers.replace(impliedKey(this.#request), this.#runId);
  }

  ended(stopReason: string): void {
    this.#stopReason = stopReason;
  }

  /** The stream may have to be sent again: what goes into it is remembered once that is known. */
  listenTo(sink: SseSink): void {
    this.#sink = sink;
    if (this.#frames) sink.tap = (frames) => this.#record(frames);
  }

  /** Comments are for the connection and not for the answer. */
  #record(frames: Buffer | string): void {
    if (!this.#frames) return;
    const text = String(frames);
    if (text.startsWith(":")) return;
    this.#length += text.length;
    if (this.#length > MAX_KEPT) this.#frames = [];
    else this.#frames.push(text);
  }

  /** Answers the request and keeps what came of it. Gives and throws what `answer` does. */
  async watch<T extends object>(answer: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      const body = await answer();
      await this.#finish(this.#answered(body));
      return body;
    } catch (error) {
      await this.#finish(this.#failed(error));
      throw error;
    }
  }

  /** A store that does not take the answer costs the repetition and not the answer. */
  async #finish(answer: KeptAnswer | undefined): Promise<void> {
    await this.#claim?.finish(answer).catch(() => {});
  }

  #answered(body: object | undefined): KeptAnswer | undefined {
    if (this.#stopReason === "cancelled" || (this.#stopReason === "error" && !this.#claim?.wrote))
      return undefined;
    const text = body ? stringifyJson(body as unknown as JsonValue) : (this.#frames ?? []).join("");
    return text !== "" && text.length <= MAX_KEPT ? { status: 200, body: text } : undefined;
  }

  #failed(error: unknown): KeptAnswer | undefined {
    if (!this.#claim?.wrote || !(error instanceof GatewayError)) return undefined;
    return { status: error.status, body: JSON.stringify(error.toBody()) };
  }
}

/** Sends the answer of an earlier request again. */
export function replay(reply: FastifyReply, { runId, answer }: Earlier): FastifyReply {
  reply.header("idempotent-replayed", "true").header("x-toolweir-run-id", runId).code(answer.status);
  if (answer.status >= 400) reply.header("x-should-retry", "false");
  return reply.type(typeOf(answer)).header("cache-control", "no-store").send(answer.body);
}

/** A JSON text begins with its brace, an event stream never does. */
function typeOf({ body }: KeptAnswer): string {
  return body.startsWith("{") ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8";
}

function givenKey({ headers, caller, rawBody }: FastifyRequest): AnswerKey | undefined {
  const given = headers["idempotency-key"];
  if (given === undefined) return undefined;
  if (typeof given !== "string" || !IDEMPOTENCY_KEY.test(given)) {
    throw new GatewayError(
      "invalid_idempotency_key",
      'Idempotency-Key must be 1 to 255 letters, digits, "_", ".", ":" or "-".',
    );
  }
  const id = digest(JSON.stringify([caller.name, given]));
  return { id, fingerprint: digest(rawBody ?? ""), ttlMs: KEYED_MS };
}

function impliedKey({ headers, caller, rawBody }: FastifyRequest): AnswerKey {
  const fingerprint = digest(rawBody ?? "");
  const parts = [caller.name, headers["x-toolweir-session"] ?? null, fingerprint];
  return { id: digest(JSON.stringify(parts)), fingerprint, ttlMs: UNKEYED_MS };
}

const digest = (text: string | Buffer) => hash("sha256", text);
