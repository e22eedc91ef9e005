import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";

/** A call of a data set, with its references in the gateway's notation. */
export interface ChainedCall {
  name: string;
  args: JsonObject;
}

/** A reference of a data set: between calls by position, from a field of the result to a parameter. */
export interface Edge {
  from: number;
  to: number;
  field: string;
  param: string;
}

/** One message of chained calls. */
export interface Chain {
  id: string;
  calls: ChainedCall[];
  edges: Edge[];
  /** Labels stand for more than one call, or a reference leads forwards: such a message is refused. */
  faulty: boolean;
}

interface NestfulRow {
  id: string;
  calls: { label: string; name: string; arguments: JsonObject }[];
  edges: { from: string; to: string; field: string; param: string }[];
  duplicate_labels?: boolean;
}

interface SealRow {
  id: string;
  calls: { name: string; arguments: JsonObject }[];
  edges?: { from: number; to: number; field: string; param: string; ref: string }[];
}

const legal = (name: string) => name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);

/** `{{tool[n].data.field}}` for a field of the result of the call at a position. */
function reference(calls: readonly { name: string }[], at: number, field: string): string {
  const name = legal(calls[at]?.name ?? "");
  const index = calls.slice(0, at).filter((call) => legal(call.name) === name).length;
  const steps = field.split(".").map((step) => (/[\s"]/.test(step) ? `["${step}"]` : `.${step}`));
  return `{{${name}[${index}].data${steps.join("")}}}`;
}

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

/** Of two calls with one label the label means the later one. */
export function nestfulChain({ id, calls, edges, duplicate_labels: faulty = false }: NestfulRow): Chain {
  const at = new Map(calls.map(({ label }, index) => [label, index]));
  const place = (label: string) => at.get(label) ?? -1;
  return {
    id,
    faulty,
    calls: calls.map(({ name, arguments: args }) => ({
      name: legal(name),
      args: mapTexts(args, (text) =>
        text.replaceAll(/\$(var\d+)\.?([^$]*)\$/g, (_, label: string, field: string) =>
          reference(calls, place(label), field),
        ),
      ) as JsonObject,
    })),
    edges: edges.map(({ from, to, field, param }) => ({ from: place(from), to: place(to), field, param })),
  };
}

/** `undefined` for rows whose calls do not refer to each other. */
export function sealChain({ id, calls, edges }: SealRow): Chain | undefined {
  if (!edges?.length) return undefined;
  return {
    id,
    faulty: edges.some(({ from, to }) => from >= to),
    calls: calls.map(({ name, arguments: args }, to) => ({
      name: legal(name),
      args: Object.fromEntries(
        Object.entries(args).map(([param, value]) => {
          const edge = edges.find((one) => one.to === to && one.param === param);
          const text = edge
            ? String(value).replace(edge.ref, reference(calls, edge.from, edge.field))
            : value;
          return [param, text];
        }),
      ),
    })),
    edges,
  };
}

/** An object in which a value stands at the place that a field of the data set names. */
export function withField(data: JsonObject, field: string, value: string): JsonObject {
  const steps = field.split(/[.[\]]+/).filter((step) => step !== "");
  let here: JsonValue = data;
  for (const [depth, step] of steps.entries()) {
    const next = steps[depth + 1];
    const inner: JsonValue = next === undefined ? value : /^\d+$/.test(next) ? [] : {};
    const holder = here as JsonObject;
    if (next === undefined || typeof holder[step] !== "object") holder[step] = inner;
    here = holder[step] as JsonValue;
  }
  return data;
}
