import type { DocumentKind, DocumentStore } from "./ports/stores.ts";

/** How often a change is tried again when another process changed the document meanwhile. */
const MAX_TRIES = 50;

/** A document that was changed. */
export interface Changed<T> {
  value: T;
  /** Unix milliseconds. */
  expiresAt: number;
}

/**
 * Documents of one kind that many change at the same time. Each change is made on what the one before left, so that none is lost: within this
 * process one waits for the other, and with other processes the store decides who was first.
 */
export class ChangingDocuments<T> {
  readonly #documents: DocumentStore;
  readonly #kind: DocumentKind;
  readonly #now: () => number;
  /** By key, the change that is made last as things stand. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** `now` gives Unix milliseconds. */
  constructor(documents: DocumentStore, kind: DocumentKind, now: () => number) {
    this.#documents = documents;
    this.#kind = kind;
    this.#now = now;
  }

  async load(key: string): Promise<Changed<T> | undefined> {
    const stored = await this.#documents.get(this.#kind, key);
    return stored && { value: stored.value as T, expiresAt: stored.expiresAt };
  }

  /**
   * Writes what `change` makes of the document, which lives for `ttlMs` from then; `undefined` leaves it as it is. `change` may be called
   * more than once, each time with what is there. Rejects with what it throws, and if the store cannot be used.
   */
  change(
    key: string,
    ttlMs: number,
    change: (value: T | undefined) => T | undefined,
  ): Promise<Changed<T> | undefined> {
    const before = this.#last.get(key);
    const own = (before ?? Promise.resolve()).then(() => this.#change(key, ttlMs, change));
    const last = own.catch(() => {});
    this.#last.set(key, last);
    void last.then(() => {
      if (this.#last.get(key) === last) this.#last.delete(key);
    });
    return own;
  }

  /** `false` if there was none. */
  delete(key: string): Promise<boolean> {
    return this.#documents.delete(this.#kind, key);
  }

  async #change(
    key: string,
    ttlMs: number,
    change: (value: T | undefined) => T | undefined,
  ): Promise<Changed<T> | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await this.#documents.get(this.#kind, key);
      const value = change(stored?.value as T | undefined);
      if (value === undefined) return undefined;
      const expectedRevision = stored?.revision ?? 0;
      const revision = await this.#documents.put(this.#kind, key, value, { ttlMs, expectedRevision });
      if (revision !== undefined) return { value, expiresAt: this.#now() + ttlMs };
    }
    throw new Error("the document changes faster than it can be written");
  }
}
