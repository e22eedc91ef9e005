/**
 * A queue in which everybody waits for the same time, however many wait under another name: first come, first served among those of one
 * name, and the names take turns.
 */
export class FairQueue<T> {
  /** In the order of their turns. A name without anybody is not there. */
  readonly #waiting = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(name: string, item: T): void {
    const same = this.#waiting.get(name);
    if (same) same.add(item);
    else this.#waiting.set(name, new Set([item]));
    this.#size++;
  }

  /** Whoever is next leaves the queue. */
  next(): T | undefined {
    const [turn] = this.#waiting;
    const [item] = turn?.[1] ?? [];
    if (turn === undefined || item === undefined) return undefined;
    const [name, same] = turn;
    this.#waiting.delete(name);
    same.delete(item);
    if (same.size > 0) this.#waiting.set(name, same);
    this.#size--;
    return item;
  }

  /** Somebody leaves without having had a turn. */
  remove(name: string, item: T): void {
    const same = this.#waiting.get(name);
    if (!same?.delete(item)) return;
    this.#size--;
    if (same.size === 0) this.#waiting.delete(name);
  }
}
