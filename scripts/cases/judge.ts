import type { JsonValue } from "../../src/core/json/value.ts";
import type { Expectation } from "./case-file.ts";
import type { Seen } from "./client.ts";
import { isObject, isSame, readJson } from "./json.ts";
import { FINAL, type Script } from "./scripted-servers.ts";

/** A replay that is over. */
export interface Replay {
  seen: Seen;
  script: Script;
  /** Names of the client's own tools. */
  clientTools: readonly string[];
}

interface Call {
  name: string;
  arguments: JsonValue;
}

/** Faults that the gateway explains to the model. */
const TOLD = ["parse", "schema", "unknown_tool", "truncated"];

/** What of a replay is not as it was expected; empty where all is. Any of the alternatives is as good. */
export function judge(
  expect: Expectation & { alternatives?: readonly Expectation[] },
  replay: Replay,
): string[] {
  const { alternatives = [], ...main } = expect;
  const faults = judgeOne(main, replay);
  const isFine = alternatives.some((other) => judgeOne(merged(main, other), replay).length === 0);
  return isFine ? [] : faults;
}

/** An alternative says only what is different; another kind of error makes the first one's calls void. */
function merged(main: Expectation, other: Expectation): Expectation {
  if (other.error_kind === undefined && other.tool_calls === undefined) return { ...main, ...other };
  const { arguments: _args, must_mention: _all, rejected_calls: _rejected, ...rest } = main;
  return { ...rest, tool_calls: [], ...other };
}

function judgeOne(expect: Expectation, replay: Replay): string[] {
  const { seen, script } = replay;
  if (expect.error_kind === "request") {
    const isRefused = seen.status === 400 && script.requests.length === 0;
    return isRefused ? [] : [`status ${seen.status} instead of 400`];
  }
  if (expect.error_kind === "upstream") return judgeFailure(expect, seen);
  if (seen.error !== undefined) return [`the client got an error: ${text(seen.error)}`];
  if (expect.if_repaired !== undefined && ran(script, [{ name: "probe", arguments: expect.if_repaired }]))
    return [];
  return [...judgeCalls(expect, replay), ...judgeTold(expect, script), ...judgeSeen(expect, replay)];
}

function judgeFailure(expect: Expectation, seen: Seen): string[] {
  if (seen.error === undefined) return [`no error reached the client, but ${text(seen.content)}`];
  const faults = missing(text(seen.error), expect).map((word) => `the error does not mention ${word}`);
  const { client_status: status = seen.status } = expect;
  return seen.status === status ? faults : [...faults, `status ${seen.status} instead of ${status}`];
}

function wantedCalls({ arguments: args, tool_calls = [] }: Expectation): Call[] {
  if (args !== undefined) return [{ name: "probe", arguments: args }];
  return tool_calls.flatMap(({ name, arguments: own }) =>
    own === undefined ? [] : [{ name, arguments: own }],
  );
}

function judgeCalls(expect: Expectation, { seen, script, clientTools }: Replay): string[] {
  const wanted = wantedCalls(expect);
  const isOpen = expect.tool_calls?.some((call) => call.arguments === undefined);
  const [mine, theirs] = [false, true].map((is) =>
    wanted.filter(({ name }) => clientTools.includes(name) === is),
  );
  const got = seen.calls.map(({ name, text: args }) => ({ name, arguments: readJson(args || "{}") }));
  const faults: string[] = [];
  if (!isOpen && !ran(script, mine ?? []))
    faults.push(`ran ${text(script.toolCalls)}, expected ${text(mine ?? [])}`);
  if (!sameCalls(got, theirs ?? [])) faults.push(`the client saw the calls ${text(got)}`);
  return faults;
}

const ran = (script: Script, calls: readonly Call[]): boolean => sameCalls(script.toolCalls, calls);

/** In any order. */
function sameCalls(got: readonly Call[], wanted: readonly Call[]): boolean {
  const rest = [...got];
  for (const call of wanted) {
    const at = rest.findIndex((one) => one.name === call.name && isSame(one.arguments, call.arguments));
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return rest.length === 0;
}

function judgeTold(expect: Expectation, { requests }: Script): string[] {
  const kind = expect.error_kind ?? "";
  if (!TOLD.includes(kind)) return [];
  const [first, second] = requests.map(({ messages }) => (Array.isArray(messages) ? messages : []));
  if (!first || !second) return kind === "truncated" ? [] : ["the model was not told"];
  const added = second.slice(first.length).filter(isObject);
  const told = added
    .flatMap(({ role, content }) => (role === "assistant" ? [] : [textOf(content)]))
    .join("\n");
  const words = [expect, ...(expect.rejected_calls ?? [])].flatMap((one) => missing(told, one));
  return words.map((word) => `the model was not told of ${word}, but: ${told.slice(0, 200)}`);
}

const textOf = (content: JsonValue | undefined): string =>
  typeof content === "string" ? content : text(content ?? null);

/** The words that a text lacks, whatever their case. */
function missing(said: string, expect: Pick<Expectation, "must_mention" | "must_mention_any">): string[] {
  const has = (word: string) => said.toLowerCase().includes(word.toLowerCase());
  const lacking = (expect.must_mention ?? []).filter((word) => !has(word)).map((word) => `"${word}"`);
  const any = expect.must_mention_any ?? [];
  if (any.length > 0 && !any.some(has)) lacking.push(`any of "${any.join('", "')}"`);
  return lacking;
}

function judgeSeen(expect: Expectation, { seen, script, clientTools }: Replay): string[] {
  const faults: string[] = [];
  const wentOn = script.requests.length > 1;
  const { content } = expect;
  if (content !== undefined && !seen.calls.length) {
    const fitting = [content ?? "", ...(wentOn ? [(content ?? "") + FINAL] : [])];
    if (!fitting.includes(seen.content))
      faults.push(`the client read ${text(seen.content)}, expected ${text(content)}`);
  }
  const isClients = expect.tool_calls?.some(({ name }) => clientTools.includes(name));
  // The calls of the gateway's tools never reach the client, and neither does their finish reason.
  const reasons = isClients ? ["tool_calls"] : wentOn ? ["stop", expect.finish_reason] : [visible(expect)];
  if (expect.finish_reason !== undefined && !reasons.includes(seen.finish)) {
    faults.push(`finish_reason ${seen.finish}, expected ${reasons.join(" or ")}`);
  }
  return faults;
}

const visible = ({ finish_reason }: Expectation): string | undefined =>
  finish_reason === "tool_calls" ? "stop" : finish_reason;

const text = (value: unknown): string =>
  (JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "").slice(
    0,
    300,
  );
