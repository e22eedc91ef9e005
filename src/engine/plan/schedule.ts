/** One thing to do. */
export interface Task {
  /** Nothing else is done meanwhile, and the order of the tasks holds around it. */
  readonly alone: boolean;
  /** Positions of the tasks that must be done before; asked again whenever one has been done. */
  needs(): readonly number[];
}

/**
 * Does every task, each as soon as what it needs is done, at most `limit` at a time, earlier ones first.
 *
 * 1. A task that is `alone` waits for all before it, and all after it wait for it.
 * 2. Once `isOver` says so, or a task has rejected, no further task is begun.
 * 3. It resolves, or rejects with the first rejection, when nothing is being done any more.
 */
export function schedule(
  tasks: readonly Task[],
  limit: number,
  run: (at: number) => Promise<void>,
  isOver: () => boolean,
): Promise<void> {
  const begun = new Set<number>();
  const done = new Set<number>();
  let failure: { error: unknown } | undefined;

  const mayBegin = (task: Task, at: number): boolean => {
    if (!task.needs().every((needed) => done.has(needed))) return false;
    return tasks.slice(0, at).every((before, place) => done.has(place) || !(task.alone || before.alone));
  };

  const next = (): number => {
    const isFull = begun.size - done.size >= limit || failure !== undefined || isOver();
    return isFull ? -1 : tasks.findIndex((task, at) => !begun.has(at) && mayBegin(task, at));
  };

  return new Promise((resolve, reject) => {
    const advance = (): void => {
      for (let at = next(); at >= 0; at = next()) void begin(at);
      if (begun.size > done.size) return;
      if (failure) reject(failure.error);
      else resolve();
    };
    const begin = async (at: number): Promise<void> => {
      begun.add(at);
      try {
        await run(at);
      } catch (error) {
        failure ??= { error };
      }
      done.add(at);
      advance();
    };
    advance();
  });
}
