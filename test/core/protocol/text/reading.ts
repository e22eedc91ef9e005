import { isDeepStrictEqual } from "node:util";
import type { TextEvent, TextFormat } from "../../../../src/core/protocol/text/reader.ts";
import type { Expected, Fixture } from "./fixtures.ts";

/** What a reader found, joined. */
export interface Found {
  content: string;
  reasoning: string;
  calls: { name: string; id: string | undefined; text: string; whole: boolean }[];
}

/** The tools of a fixture as a reader takes them. */
export function toolsOf(fixture: Pick<Fixture, "tools">) {
  return new Map(fixture.tools.map(({ function: { name, parameters } }) => [name, parameters]));
}

/** Reads pieces and joins the events; a call must begin before its arguments and end once. */
export function readPieces(
  format: TextFormat,
  pieces: readonly string[],
  tools: ReadonlyMap<string, Record<string, unknown> | undefined>,
  reasoningPrefilled = false,
): Found {
  const found: Found = { content: "", reasoning: "", calls: [] };
  const reader = format.reader({ tools, reasoningPrefilled });
  const emit = (event: TextEvent) => take(found, event);
  for (const piece of pieces) reader.push(piece, emit);
  reader.end(emit);
  return found;
}

function take(found: Found, event: TextEvent): void {
  if (event.kind === "content" || event.kind === "reasoning") {
    found[event.kind] += event.text;
    return;
  }
  const { calls } = found;
  if (event.kind === "call") {
    if (event.call !== calls.length) throw new Error(`call ${event.call} instead of ${calls.length}`);
    calls.push({ name: event.name, id: event.id, text: "", whole: false });
    return;
  }
  const call = calls[event.call];
  if (!call || call.whole) throw new Error(`${event.kind} of a call that is not open`);
  if (event.kind === "arguments") call.text += event.text;
  else call.whole = true;
}

/** Why what was found is none of what is accepted; `undefined` if it is. A call of a name that nobody declared does not count: it is answered. */
export function faultOf(found: Found, fixture: Fixture): string | undefined {
  const accepted = [fixture.expect, ...(fixture.alt ?? [])];
  const readings = [found, { ...found, calls: found.calls.filter(({ name }) => isDeclared(name, fixture)) }];
  const fit = accepted.some((expected) => readings.some((reading) => fits(reading, expected)));
  return fit ? undefined : JSON.stringify(found);
}

const isDeclared = (name: string, { tools }: Fixture) => tools.some((tool) => tool.function.name === name);

function fits(found: Found, expected: Expected): boolean {
  const whole = found.calls.filter((call) => call.whole);
  const cut = found.calls.filter((call) => !call.whole);
  const begun = expected.incomplete ?? [];
  return (
    flat(found.content) === flat(expected.content) &&
    flat(found.reasoning) === flat(expected.reasoning) &&
    whole.length === expected.tool_calls.length &&
    expected.tool_calls.every((call, index) => isCall(whole[index], call)) &&
    cut.every(
      // How much of a call that was cut off is given out is the reader's choice.
      ({ name, text }, index) =>
        name === begun[index]?.name && begun[index].arguments_prefix.startsWith(text),
    )
  );
}

const flat = (text: string | null) => (text ?? "").replace(/\s+/g, " ").trim();

function isCall(
  found: Found["calls"][number] | undefined,
  expected: Expected["tool_calls"][number],
): boolean {
  if (found?.name !== expected.name || (expected.id !== undefined && found.id !== expected.id)) return false;
  if (expected.arguments_raw !== undefined) return found.text === expected.arguments_raw;
  return isDeepStrictEqual(parsed(found.text), expected.arguments);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The text in one piece, unit by unit, cut in two at every place, and at the recorded places. */
export function* cutsOf({ text, splits = [] }: Pick<Fixture, "text" | "splits">): Generator<string[]> {
  yield [text];
  yield text.split("");
  for (let at = 1; at < text.length; at++) yield [text.slice(0, at), text.slice(at)];
  const recorded = splits.every((at) => typeof at === "number") ? [splits as number[]] : splits;
  for (const points of recorded.map((at) => [at].flat())) {
    yield [0, ...points].map((at, index) => text.slice(at, points[index])).filter((piece) => piece !== "");
  }
}
