import type { Block } from "../machine/grammar.ts";
import { flow, MAX_NAME, skipTrailers, textBefore } from "../machine/lookahead.ts";
import type { Output } from "../machine/output.ts";
import { Markers, peek, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import type { ReaderContext } from "../reader.ts";
import { Brackets, MAX_BRACKETS } from "./brackets.ts";
import { argumentsToJson, cutArgumentsToJson, PYTHON } from "./loose-literal.ts";
import { SchemaView } from "./schema-view.ts";

/** Where a format writes calls of Python functions. */
export interface PythonCalls {
  /** What stands before the calls; `"["` for a list on its own. */
  marker: string;
  /** What may stand behind them. */
  close: readonly string[];
  /** Only declared names count. */
  declaredOnly?: true;
  /** The calls stand in a code block, all of which is markup. */
  code?: true;
}

const BRACKETS = new Brackets(PYTHON.quotes);
const HEAD_END = new Markers(["(", "\n", "[", "{", '"', "'", ",", "`", "<"]);
const HEAD = /^(?:[\p{L}_][\p{L}\p{N}_]*\s*=\s*)?([\p{L}_][\p{L}\p{N}_.-]*)\s*$/u;
/** What models of some families write around the names of tools. */
const AROUND_NAME = /^default_api\.|\.call$/g;

/** Reads `[f(a=1), g()]`, or calls one behind the other. */
export function pythonBlock(row: PythonCalls): Block {
  const close = new Markers(row.close);
  return function* read(input, out, context) {
    if (row.marker !== "[") input.at += row.marker.length;
    const inList = (yield* skipBlanks(input)) === "[";
    if (inList) input.at++;
    const any = yield* readCalls(input, out, context, { inList, declaredOnly: row.declaredOnly === true });
    if (!any) return false;
    if (row.code) {
      yield* flow(input, close, () => {});
      yield* close.skip(input);
    } else yield* skipTrailers(input, close);
    return true;
  };
}

type Tools = ReaderContext["tools"];

interface Place {
  inList: boolean;
  declaredOnly: boolean;
}

/** Reads calls as long as they come. A list counts only if its first call is whole and followed by what belongs in a list. */
function* readCalls(input: TextInput, out: Output, context: ReaderContext, place: Place): Reading<boolean> {
  for (let any = false; ; any = true) {
    const mark = input.mark();
    const call = yield* readCall(input, context.tools, place.declaredOnly && !any);
    const more = call && (yield* passSeparator(input, place));
    if (!call || more === undefined) {
      input.back(mark);
      return any;
    }
    input.release();
    if (call.whole) out.wholeCall(call.name, call.text);
    else out.arguments(out.call(call.name), call.text);
    if (!more || !call.whole) return true;
  }
}

interface Call {
  name: string;
  text: string;
  /** The reply did not end in it. */
  whole: boolean;
}

/** One call, which may be printed. */
function* readCall(input: TextInput, tools: Tools, declaredOnly: boolean): Reading<Call | undefined> {
  const name = yield* readName(input);
  if (name !== "print" || tools.has(name))
    return name ? yield* readBody(input, tools, name, declaredOnly) : undefined;
  input.at++;
  const printed = yield* readName(input);
  const call = printed ? yield* readBody(input, tools, printed, declaredOnly) : undefined;
  if (call && (yield* skipBlanks(input)) === ")") input.at++;
  return call;
}

/** The name before a bracket, or what the bracket's value is assigned to and the name. */
function* readName(input: TextInput): Reading<string | undefined> {
  yield* skipBlanks(input);
  const head = yield* textBefore(input, HEAD_END, MAX_NAME);
  return input.next === "(" ? HEAD.exec(head ?? "")?.[1] : undefined;
}

function* readBody(
  input: TextInput,
  tools: Tools,
  written: string,
  declaredOnly: boolean,
): Reading<Call | undefined> {
  const name = tools.has(written) ? written : written.replace(AROUND_NAME, "");
  if (declaredOnly && !tools.has(name)) return undefined;
  const schema = new SchemaView(tools.get(name));
  const { text, end } = yield* BRACKETS.read(input, declaredOnly ? MAX_BRACKETS : Infinity);
  if (end === "deep") return undefined;
  if (end === "cut") return { name, text: cutArgumentsToJson(text, PYTHON, schema), whole: false };
  const json = argumentsToJson(text, PYTHON, schema);
  return json === undefined && declaredOnly ? undefined : { name, text: json ?? text, whole: true };
}

/** What stands between two calls. `true`: another one may follow; `undefined`: this is no list of calls. */
function* passSeparator(input: TextInput, { inList }: Place): Reading<boolean | undefined> {
  if (!inList) {
    for (let next = yield* peek(input); /^[\s,;]$/.test(next); next = yield* peek(input)) input.at++;
    return true;
  }
  const next = yield* skipBlanks(input);
  if (next === "," || next === "]") input.at++;
  else if (next !== "") return undefined;
  return next === ",";
}
