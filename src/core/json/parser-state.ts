/** Where in the grammar the parser stands: what it is reading, or what must come next. */
export type State =
  | "value"
  | "first element"
  | "first key"
  | "key"
  | "key text"
  | "colon"
  | "after value"
  | "string"
  | "number"
  | "literal"
  | "done";

/** The states in which a value is being read, or is about to be, that stands inside the innermost container. */
export const AT_CHILD: ReadonlySet<State> = new Set(["value", "colon", "string", "number", "literal"]);

/** What must come in the states that one character decides, for a message. */
export const EXPECTED = {
  value: "a value",
  "first element": 'a value or "]"',
  "first key": 'a key in double quotes or "}"',
  key: "a key in double quotes",
  colon: '":"',
  done: "nothing but white space",
} as const satisfies Partial<Record<State, string>>;
