/** One row of the list of hostile schemas: what it is and what registering it must answer. */
export interface BombRow {
  readonly id: string;
  readonly name: string;
  readonly schema: unknown;
  /** JSON text used instead of `schema`, for what an object literal cannot hold. */
  readonly raw_schema?: string;
  readonly registration: { readonly status: number | readonly number[]; readonly reason: string | null };
  readonly naive_data?: unknown;
}

type Generated = Record<string, unknown>;

/**
 * Writes out the generators of the list: `@array` {count, item}, `@object` {count, key, value, last}, `@nest` {wrap, depth,
 * core} with `@hole` where the next level goes, `${REPEAT:text:count}`, `${I}` and `${I+1}`.
 */
export function expand(value: unknown, index = 0): unknown {
  if (typeof value === "string") return expandText(value, index);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => expand(item, index));
  const {
    "@array": array,
    "@object": object,
    "@nest": nest,
  } = value as Record<string, Generated | undefined>;
  if (array !== undefined) return times(array, (at) => expand(array["item"], at));
  if (object !== undefined) return expandObject(object);
  if (nest !== undefined) return expandNest(nest);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [expandText(key, index), expand(member, index)]),
  );
}

function times<T>({ count }: Generated, make: (at: number) => T): T[] {
  return Array.from({ length: Number(count) }, (_, at) => make(at));
}

function expandObject(object: Generated): unknown {
  const last = Number(object["count"]) - 1;
  return Object.fromEntries(
    times(object, (at) => {
      const member = at === last && object["last"] !== undefined ? object["last"] : object["value"];
      return [expandText(String(object["key"]), at), expand(member, at)];
    }),
  );
}

function expandNest({ wrap, depth, core }: Generated): unknown {
  let value = expand(core);
  for (let level = 0; level < Number(depth); level++) value = fillHole(wrap, value);
  return value;
}

function fillHole(wrap: unknown, value: unknown): unknown {
  if (wrap === "@hole") return value;
  if (typeof wrap !== "object" || wrap === null) return wrap;
  if (Array.isArray(wrap)) return wrap.map((item) => fillHole(item, value));
  return Object.fromEntries(Object.entries(wrap).map(([key, member]) => [key, fillHole(member, value)]));
}

function expandText(text: string, index: number): string {
  return text
    .replace(/\$\{REPEAT:(.+?):(\d+)\}/g, (_, piece: string, count: string) => piece.repeat(Number(count)))
    .replaceAll(/\$\{I\}/g, String(index))
    .replaceAll(/\$\{I\+1\}/g, String(index + 1));
}
