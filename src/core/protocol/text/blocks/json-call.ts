import { repairJson } from "../../../json/repair.ts";
import type { RepairName } from "../../../json/repair-names.ts";
import { stringifyJson } from "../../../json/stringify.ts";
import { flow } from "../machine/lookahead.ts";
import type { Output } from "../machine/output.ts";
import { type Markers, peek, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import type { ReaderContext } from "../reader.ts";
import { argumentText } from "./argument-text.ts";
import {
  ARGUMENTS,
  type CallShape,
  callIn,
  ID,
  LIST,
  MAX_WRAPPERS,
  NAME,
  NEUTRAL,
  WRAPPER,
} from "./call-keys.ts";
import { declaredName, forOnlyText } from "./declared.ts";
import { passValue, readString, readValue } from "./json-value.ts";
import { SchemaView } from "./schema-view.ts";

/** What calls are read from and given out to. */
export interface CallSource {
  input: TextInput;
  out: Output;
  context: ReaderContext;
  shape: CallShape;
  /** Markers that end whatever is open. */
  stops: Markers;
}

/** `none`: no call, and the reader stands somewhere in or behind the object. `cut`: the text ended before a call was known. */
export type Found = "call" | "none" | "cut";

interface Draft {
  /** How many wrappers stand around what is read. */
  wrappers: number;
  name?: string;
  id?: string;
  /** Arguments that came before all else was known. */
  text?: string;
  /** Members that are neither name nor arguments nor known beside them: the arguments, where there are no others. */
  beside?: string[];
  /** What was put right in the text of the arguments. */
  repairs?: readonly RepairName[];
  /** The call's number once it is given out; -1 for something else than a call of its own. */
  call?: number;
  /** It stands there that no tool is meant. */
  noTool?: true;
  thought?: string;
}

/** Reads the object at which the reader stands. */
export function* readCall(source: CallSource, wrappers = 0): Reading<Found> {
  const { input, shape } = source;
  const mark = input.mark();
  const draft: Draft = { wrappers };
  const end = yield* readMembers(source, draft);
  if (end === "odd" && !shape.bare) {
    input.back(mark);
    return yield* readLoosely(source);
  }
  input.release();
  if (draft.call !== undefined) return "call";
  if (end === "closed") return finish(source, draft);
  if (end === "cut" && draft.name !== undefined && !draft.noTool && !shape.bare)
    begin(source, draft, draft.name);
  return end === "cut" ? "cut" : "none";
}

type End = "closed" | "odd" | "cut" | "refuted";

function* readMembers(source: CallSource, draft: Draft): Reading<End> {
  source.input.at++;
  let end: End | undefined;
  while (end === undefined) end = yield* readNext(source, draft);
  return end;
}

/** One member, a comma or the end; `undefined`: the object goes on. */
function* readNext(source: CallSource, draft: Draft): Reading<End | undefined> {
  const { input, stops } = source;
  const next = yield* skipBlanks(input);
  if (next === "") return "cut";
  if (next === "}" || next === ",") {
    input.at++;
    return next === "}" ? "closed" : undefined;
  }
  if ((yield* stops.here(input)) !== undefined) return "closed";
  const end = next === '"' ? yield* readMember(source, draft) : "odd";
  if (end !== "odd" || draft.call === undefined) return end;
  yield* passOdd(source);
  return undefined;
}

/** Something that should not be there, behind a call that is already out. */
function* passOdd({ input, stops }: CallSource): Reading<void> {
  if (/[\]:;]/.test(yield* peek(input))) input.at++;
  else yield* passValue(input, stops, () => {});
}

/** `undefined`: the object goes on. */
function* readMember(source: CallSource, draft: Draft): Reading<End | undefined> {
  const { input } = source;
  const key = yield* readString(input);
  if (!key.whole) return "cut";
  if ((yield* skipBlanks(input)) !== ":") return input.next === "" ? "cut" : "odd";
  input.at++;
  const next = yield* skipBlanks(input);
  if (next === "") return "cut";
  return yield* readMemberValue(source, draft, key.text, next);
}

function* readMemberValue(
  source: CallSource,
  draft: Draft,
  key: string,
  next: string,
): Reading<End | undefined> {
  const { shape, context } = source;
  const open = draft.call === undefined;
  const wraps = open && draft.wrappers < MAX_WRAPPERS;
  if (wraps && WRAPPER.has(key) && next === "{") return yield* readWrapped(source, draft);
  if (wraps && key === LIST && next === "[") return yield* readList(source, draft);
  if (open && NAME.has(key) && draft.name === undefined) return yield* readName(source, draft, next);
  if (open && ARGUMENTS.has(key) && draft.text === undefined)
    return yield* readArguments(source, draft, next);
  if (open && shape.keyIsName) {
    draft.name = declaredName(key, context);
    return yield* readArguments(source, draft, next);
  }
  return yield* readOther(source, draft, key, next);
}

/** A member that says nothing about name and arguments. */
function* readOther(source: CallSource, draft: Draft, key: string, next: string): Reading<End | undefined> {
  const { input, shape, stops } = source;
  const isThought = shape.thought === true && key === "thought";
  if (isThought && next === '"') return yield* readThought(source, draft);
  const known = isThought || ID.has(key) || NEUTRAL.has(key);
  if (shape.bare && draft.call === undefined && !known) return "refuted";
  const { text, end, repairs } = yield* readValue(input, stops);
  if (!known && draft.call === undefined) addBeside(draft, `${JSON.stringify(key)}: ${text}`, repairs);
  if (ID.has(key) && shape.ids) draft.id = text.replace(/^"(.*)"$/s, "$1");
  return end === "cut" ? "cut" : undefined;
}

function addBeside(draft: Draft, member: string, repairs: readonly RepairName[]): void {
  draft.beside ??= [];
  draft.beside.push(member);
  if (repairs.length > 0) draft.repairs = repairs;
}

function* readWrapped(source: CallSource, draft: Draft): Reading<End | undefined> {
  draft.wrappers++;
  const end = yield* readMembers(source, draft);
  return end === "closed" ? undefined : end;
}

/** Objects in an array; once one of them is a call the others are too. */
function* readList(source: CallSource, draft: Draft): Reading<End | undefined> {
  const { input } = source;
  input.at++;
  for (;;) {
    const next = yield* skipBlanks(input);
    const end = next === "{" ? yield* readItem(source, draft) : undefined;
    if (end !== undefined) return end;
    if (next === "{") continue;
    if (next !== "," && next !== "]") return next === "" ? "cut" : "odd";
    input.at++;
    if (next === "]") return undefined;
  }
}

function* readItem(source: CallSource, draft: Draft): Reading<End | undefined> {
  const { bare, ...sure } = source.shape;
  const any = draft.call !== undefined;
  const found = yield* readCall(any ? { ...source, shape: sure } : source, draft.wrappers + 1);
  if (found === "call") draft.call ??= -1;
  if (found === "none" && bare && !any) return "refuted";
  return found === "cut" ? "cut" : undefined;
}

function* readName(source: CallSource, draft: Draft, next: string): Reading<End | undefined> {
  const { input, shape, context, stops } = source;
  if (next !== '"') {
    const { text, end } = yield* readValue(input, stops);
    if (end === "cut") return "cut";
    if (shape.thought && text === "null") draft.noTool = true;
    else if (shape.bare) return "refuted";
    return undefined;
  }
  const { text, whole } = yield* readString(input);
  if (!whole) return "cut";
  draft.name = declaredName(text.trim(), context);
  if (context.tools.has(draft.name)) return undefined;
  if (shape.noTool?.includes(draft.name)) draft.noTool = true;
  else if (shape.bare) return "refuted";
  return undefined;
}

function* readThought(source: CallSource, draft: Draft): Reading<End | undefined> {
  const { text, whole } = yield* readString(source.input);
  if (!whole) return "cut";
  if (draft.call === undefined) draft.thought = text;
  else source.out.thought(text);
  return undefined;
}

/** Arguments go out as they come, as soon as the name is known. */
function* readArguments(source: CallSource, draft: Draft, next: string): Reading<End | undefined> {
  const { input, out, shape, stops } = source;
  const { name } = draft;
  const streams =
    name !== undefined && !draft.noTool && !shape.ids && next === "{" && (yield* looksStrict(input));
  if (streams) {
    const call = begin(source, draft, name);
    const end = yield* passValue(input, stops, (piece, put) => out.arguments(call, piece, put));
    if (end === "cut") return "cut";
    out.callEnd(call);
    return undefined;
  }
  const { text, end, repairs } = yield* readValue(input, stops);
  draft.text = text;
  draft.repairs = [...(draft.repairs ?? []), ...repairs];
  if (end === "cut") {
    // What there is of a call whose name is known is told, so that it can be completed.
    if (name !== undefined && !draft.noTool) out.arguments(begin(source, draft, name), text);
    return "cut";
  }
  if (name !== undefined && !shape.ids) finish(source, draft);
  return undefined;
}

/** Reads the arguments of a call whose name is known: an object, or plain text up to a marker. */
export function* readNamedCall(source: CallSource, name: string, id: string | undefined): Reading<void> {
  const { input, out, context, stops } = source;
  const draft: Draft = { wrappers: 0, name, ...(id !== undefined && { id }) };
  const next = yield* skipBlanks(input);
  if (next === "{") yield* readArguments(source, draft, next);
  else {
    let text = "";
    yield* flow(input, stops, (piece) => {
      text += piece;
    });
    out.wholeCall(name, forOnlyText(text.trim(), new SchemaView(context.tools.get(name))), id);
  }
}

/** Whether the object at which the reader stands begins as JSON demands. */
function* looksStrict(input: TextInput): Reading<boolean> {
  const mark = input.mark();
  input.at++;
  const first = yield* skipBlanks(input);
  input.back(mark);
  return first === '"' || first === "}" || first === "";
}

function begin(source: CallSource, draft: Draft, name: string): number {
  if (draft.thought !== undefined) source.out.thought(draft.thought);
  draft.call = source.out.call(name, draft.id);
  return draft.call;
}

function finish(source: CallSource, draft: Draft): Found {
  const { out, context, shape } = source;
  const { name, noTool, thought, beside, repairs = [] } = draft;
  const text = draft.text ?? (beside && `{${beside.join(", ")}}`);
  if (noTool) {
    out.markup();
    if (thought !== undefined) out.content(thought);
    draft.call ??= -1;
    return "call";
  }
  if (name === undefined || (shape.bare && text === undefined)) return "none";
  const call = begin(source, draft, name);
  const said = argumentText(text ?? "", context.tools.get(name));
  const put = [...new Set([...repairs, ...said.repairs])];
  out.arguments(call, said.text, put.length > 0 ? put : undefined);
  out.callEnd(call);
  return "call";
}

/** An object that is no JSON is read as a whole, if it can be repaired. */
function* readLoosely(source: CallSource): Reading<Found> {
  const { text, end, repairs } = yield* readValue(source.input, source.stops);
  if (end === "cut") return "cut";
  const repair = repairJson(text);
  if (!repair) return "none";
  const called = callIn(repair.value);
  if (!called) return "none";
  return finish(source, {
    wrappers: 0,
    name: declaredName(called.name.trim(), source.context),
    text: stringifyJson(called.args),
    repairs: [...repairs, ...repair.repairs],
  });
}
