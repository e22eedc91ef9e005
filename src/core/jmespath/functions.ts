import type { JmesFunction, Kind } from "./function-shape.ts";
import { ARRAY_FUNCTIONS } from "./functions-array.ts";
import { OBJECT_FUNCTIONS } from "./functions-object.ts";
import { STRING_FUNCTIONS } from "./functions-string.ts";
import { type Expression, type Item, typeOf } from "./item.ts";
import { type Meter, SelectFailed } from "./meter.ts";

const TABLE: ReadonlyMap<string, JmesFunction> = new Map(
  Object.entries({ ...ARRAY_FUNCTIONS, ...OBJECT_FUNCTIONS, ...STRING_FUNCTIONS }),
);

/** The functions of JMESPath. */
export const FUNCTIONS = {
  names: [...TABLE.keys()],

  /** What is wrong with a call before there is a value; `isExpression` says which arguments are `&expression`. */
  faultOf(name: string, isExpression: readonly boolean[]): string | undefined {
    const found = TABLE.get(name);
    if (!found) return `there is no function "${name}"`;
    const { takes, optional = 0, repeats = false } = found;
    const least = takes.length - optional;
    const count = isExpression.length;
    if (count < least || (count > takes.length && !repeats)) {
      const most = repeats ? " or more" : optional > 0 ? ` to ${takes.length}` : "";
      return `"${name}" takes ${least}${most} argument${least === 1 && most === "" ? "" : "s"}`;
    }
    const wrong = isExpression.findIndex((is, at) => is !== kindsAt(found, at).includes("expression"));
    if (wrong < 0) return undefined;
    const wanted = isExpression[wrong] ? "a value" : "an expression with & before it";
    return `argument ${wrong + 1} of "${name}" is ${wanted}`;
  },

  /** Throws `SelectFailed` for arguments of a type that the function does not take. */
  call(name: string, args: readonly (Item | Expression)[], meter: Meter): Item {
    const found = TABLE.get(name) as JmesFunction;
    for (const [at, arg] of args.entries()) {
      const kinds = kindsAt(found, at);
      if (typeof arg === "function" || kinds.some((kind) => fits(arg, kind, meter))) continue;
      throw new SelectFailed(`"${name}" takes no ${typeOf(arg)} as argument ${at + 1}`);
    }
    return found.call(args as never, meter);
  },
};

function kindsAt({ takes }: JmesFunction, at: number): readonly Kind[] {
  return takes[Math.min(at, takes.length - 1)] ?? [];
}

function fits(item: Item, kind: Kind, meter: Meter): boolean {
  if (kind === "any") return true;
  if (!kind.endsWith("s")) return typeOf(item) === kind;
  if (!Array.isArray(item)) return false;
  meter.charge(item.length);
  return item.every((one) => `${typeOf(one)}s` === kind);
}
