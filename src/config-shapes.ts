/** The parts of JSON Schema that the settings use. `description` finishes the sentence "expected …". */
export interface SettingSchema {
  type: "object" | "array" | "string" | "integer" | "number" | "boolean";
  description: string;
  default?: unknown;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  pattern?: string;
  required?: readonly string[];
  properties?: Readonly<Record<string, SettingSchema>>;
  additionalProperties?: false;
  items?: SettingSchema;
}

/** Longest delay that a timer of Node takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** A text that is not empty, unless `more` says otherwise. */
export function text(description: string, more: Partial<SettingSchema> = {}): SettingSchema {
  return { type: "string", description, minLength: 1, ...more };
}

/** One word of a few. */
export function oneOf(values: readonly string[], fallback?: string): SettingSchema {
  const description = `one of ${values.join(", ")}`;
  return { type: "string", description, enum: values, ...(fallback !== undefined && { default: fallback }) };
}

/** A whole number; required where it has no fallback. */
export function whole(fallback: number | undefined, minimum: number, maximum = 1_000_000): SettingSchema {
  const description = `a whole number from ${minimum} to ${maximum}`;
  return {
    type: "integer",
    description,
    minimum,
    maximum,
    ...(fallback !== undefined && { default: fallback }),
  };
}

/** No bound where it is left out. */
export const budget = whole(undefined, 1, 1_000_000_000_000);

/** A price. */
export const amount: SettingSchema = {
  type: "number",
  description: "a number from 0 to 1000000 with at most 6 decimals",
  minimum: 0,
  maximum: 1_000_000,
};

/** A part of a whole. */
export function share(fallback: number): SettingSchema {
  return { type: "number", description: "a number from 0 to 1", minimum: 0, maximum: 1, default: fallback };
}

/** `true` or `false`. */
export function yesOrNo(fallback: boolean): SettingSchema {
  return { type: "boolean", description: "true or false", default: fallback };
}

/** A time that timers of Node can wait. */
export function milliseconds(fallback: number): SettingSchema {
  const schema = whole(fallback, 1, MAX_TIMER_MS);
  return { ...schema, description: `${schema.description}, in milliseconds` };
}

/** A time of at least a second. */
export function seconds(fallback: number, maximum: number): SettingSchema {
  const schema = whole(fallback, 1, maximum);
  return { ...schema, description: `${schema.description}, in seconds` };
}

/** Settings that belong together. */
export function group(
  properties: Readonly<Record<string, SettingSchema>>,
  required: readonly string[] = [],
): SettingSchema {
  return {
    type: "object",
    description: `a group of settings (${Object.keys(properties).join(", ")})`,
    additionalProperties: false,
    properties,
    required,
  };
}

/** A group that is there even where the file leaves it out, so that the defaults of its members apply. */
export function section(properties: Readonly<Record<string, SettingSchema>>): SettingSchema {
  return { ...group(properties), default: {} };
}

/** A list, empty where it is left out unless there is a fallback. */
export function list(
  items: SettingSchema,
  description: string,
  fallback: readonly unknown[] = [],
): SettingSchema {
  return { type: "array", description, items, default: fallback };
}
