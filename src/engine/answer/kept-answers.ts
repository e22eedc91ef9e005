import { GatewayError } from "../../errors.ts";
import type { DocumentStore, StoredDocument } from "../ports/stores.ts";

/** How long the process that answers a request is believed to be alive after it last said so. */
const LEASE_MS = 15_000;
const RENEW_MS = 5_000;

/** An answer as the client got it. */
export interface KeptAnswer {
  status: number;
  /** The JSON body, or all frames of a stream. */
  body: string;
}

/** A request as far as a repetition is known by it. */
export interface AnswerKey {
  /** Unguessable for other callers: a hash of the caller and what the caller named. */
  id: string;
  /** Hash of the body: the same key with another body is a mistake of the client. */
  fingerprint: string;
  /** How long the answer is kept, in milliseconds. */
  ttlMs: number;
}

interface Entry {
  fingerprint: string;
  runId: string;
  /** Absent while the request is being answered. */
  answer?: KeptAnswer;
  /** A tool that may change something was asked. */
  wrote: boolean;
  /** Unix milliseconds; after that nobody answers this request any more. */
  leaseUntil: number;
}

/** A request that was answered before. */
export interface Earlier {
  runId: string;
  answer: KeptAnswer;
}

/**
 * Answers that are given again to a repeated request, so that nothing is done twice.
 *
 * 1. One request at a time is answered under a key; the others are told to come again.
 * 2. A request whose process died is answered anew, unless it had begun to change something: then the answer is that it did.
 * 3. The marks for that are in the store before anything is changed.
 */
export class KeptAnswers {
  readonly #documents: DocumentStore;
  readonly #now: () => number;

  constructor(documents: DocumentStore, now: () => number) {
    this.#documents = documents;
    this.#now = now;
  }

  /**
   * The answer to an earlier request under this key; `undefined` if there was none.
   * Throws `idempotency_key_reuse` if its body was another one, `run_in_progress` while it is being answered.
   */
  async find(key: AnswerKey): Promise<Earlier | undefined> {
    return this.#earlier(key, await this.#documents.get("answer", key.id), "run_in_progress");
  }

  /** Claims the key for this run, or gives the answer of an earlier one. Throws like `find`, with `idempotency_in_progress`. */
  async begin(key: AnswerKey, runId: string): Promise<Earlier | Claim> {
    const stored = await this.#documents.get("answer", key.id);
    const earlier = this.#earlier(key, stored, "idempotency_in_progress");
    if (earlier) return earlier;
    const claim = new Claim(this.#documents, key, runId, this.#now);
    if (await claim.take({ wrote: false, expectedRevision: stored?.revision ?? 0 })) return claim;
    throw inProgress("idempotency_in_progress");
  }

  /** Claims the key for a run that is about to change something, whoever had it before. */
  async replace(key: AnswerKey, runId: string): Promise<Claim> {
    const claim = new Claim(this.#documents, key, runId, this.#now);
    await claim.take({ wrote: true });
    return claim;
  }

  #earlier(key: AnswerKey, stored: StoredDocument | undefined, code: InProgress): Earlier | undefined {
    if (!stored) return undefined;
    const entry = stored.value as Entry;
    if (entry.fingerprint !== key.fingerprint) {
      throw new GatewayError(
        "idempotency_key_reuse",
        "This Idempotency-Key was used with another request body. Use a new key for a new request.",
      );
    }
    const { runId, answer, wrote, leaseUntil } = entry;
    if (answer) return { runId, answer };
    if (leaseUntil > this.#now()) throw inProgress(code);
    return wrote ? { runId, answer: failedAfterWrite(runId) } : undefined;
  }
}

/** The right to answer under a key, until it is finished or released. */
export class Claim {
  readonly #documents: DocumentStore;
  readonly #key: AnswerKey;
  readonly #now: () => number;
  readonly #renewal: NodeJS.Timeout;
  #entry: Entry;
  #revision: number | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(documents: DocumentStore, key: AnswerKey, runId: string, now: () => number) {
    this.#documents = documents;
    this.#key = key;
    this.#now = now;
    this.#entry = { fingerprint: key.fingerprint, runId, wrote: false, leaseUntil: 0 };
    // A renewal that fails is made up for by the next one; what the run itself needs from the store says so on its own.
    this.#renewal = setInterval(() => void this.#write({}).catch(() => {}), RENEW_MS).unref();
  }

  /** Whether the run has begun to change something. */
  get wrote(): boolean {
    return this.#entry.wrote;
  }

  /** `false` if the revision is not current: somebody else has the key. */
  async take(first: { wrote: boolean; expectedRevision?: number }): Promise<boolean> {
    this.#revision = first.expectedRevision;
    const taken = await this.#write({ wrote: first.wrote });
    if (!taken) clearInterval(this.#renewal);
    return taken;
  }

  /** Before the first request that may change something: from here on the run is never repeated. */
  async write(): Promise<void> {
    if (this.#entry.wrote) return;
    if (!(await this.#write({ wrote: true }))) throw inProgress("idempotency_in_progress");
  }

  /** The answer is given to every repetition from now on. `undefined`: there is none that could be kept. */
  async finish(answer: KeptAnswer | undefined): Promise<void> {
    clearInterval(this.#renewal);
    if (answer || this.#entry.wrote) {
      await this.#write({ answer: answer ?? failedAfterWrite(this.#entry.runId) });
    } else {
      await this.#last;
      await this.#documents.delete("answer", this.#key.id, this.#revision);
    }
  }

  /** One write after the other, since each needs the revision of the one before. */
  #write(change: Partial<Entry>): Promise<boolean> {
    const next = this.#last.then(async () => {
      const entry = { ...this.#entry, ...change, leaseUntil: this.#now() + LEASE_MS };
      const { id, ttlMs } = this.#key;
      const expected = this.#revision === undefined ? {} : { expectedRevision: this.#revision };
      const revision = await this.#documents.put("answer", id, entry, { ttlMs, ...expected });
      if (revision === undefined) return false;
      this.#revision = revision;
      this.#entry = entry;
      return true;
    });
    this.#last = next.catch(() => {});
    return next;
  }
}

type InProgress = "idempotency_in_progress" | "run_in_progress";

function inProgress(code: InProgress): GatewayError {
  return new GatewayError(code, "The same request is being answered. Ask again in a moment for its answer.", {
    headers: { "retry-after": "1", "x-should-retry": "true" },
  });
}

/** What a repeated request is told when the first one changed something and left no answer. */
function failedAfterWrite(runId: string): KeptAnswer {
  const error = new GatewayError(
    "run_failed_after_write",
    `This request asked a tool that changes something and left no answer. Do not repeat it; look at run ${runId}.`,
    { runId },
  );
  return { status: error.status, body: JSON.stringify(error.toBody()) };
}
