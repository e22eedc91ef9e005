import { membersOf, type Select } from "../../core/jmespath/compile-select.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonValue } from "../../core/json/value.ts";
import { withoutTurnMarkup } from "../../core/protocol/turn-markup.ts";
import { READ_RESULT } from "../../core/tool.ts";
import type { ToolReply } from "../ports/tools.ts";
import { type ImageSize, imageSize } from "./image-size.ts";
import type { ResultBody } from "./result-body.ts";
import { type Locale, RESULT_TEXTS } from "./result-text.ts";
import { fitting, type Missing, shortenJson, shownString } from "./shorten.ts";
import { SHOWN_TEXTS } from "./shown-texts.ts";
import { type StoredText, summaryOf } from "./summary.ts";

/** How much of a result the model sees, and in which language it is told of the rest. */
export interface Showing {
  maxBytes: number;
  locale: Locale;
  /** What the tool's author wants to be seen of its data. */
  select?: Select | undefined;
  /** Makes the reference under which the whole of what is too long will be stored; absent where it is cut off. */
  reference?: (() => string) | undefined;
}

/** The data of an envelope as JSON text, and what is said beside it. */
export interface ShownData {
  json: string;
  note?: string;
  /** What has to be stored so that the reference in the data can be used. */
  stored?: StoredText;
}

const MAX_PLACES = 4;
const MAX_MEMBERS = 20;
const MAX_NAME = 64;

/** What the model is shown of a body; never more than `maxBytes` of it. */
export function showData(body: ResultBody, reply: ToolReply, showing: Showing): ShownData {
  const texts = RESULT_TEXTS[showing.locale];
  switch (body.kind) {
    case "empty":
      return { json: JSON.stringify(texts.noOutput) };
    case "binary":
      return { json: JSON.stringify(texts.notShown(typeOf(body, reply), sizeText(reply, showing.locale))) };
    case "text":
      return showText(body.text, reply.truncated, showing);
    case "json":
      return showJson(body.value, body.cut === true ? reply.body.length : undefined, showing);
    default:
      return body satisfies never;
  }
}

/** The part of a body that the tool's author wants to be seen; what is no JSON has no parts. */
export function selectBody(
  body: ResultBody,
  { select, locale }: Showing,
): { body: ResultBody; note?: string } {
  if (!select || body.kind !== "json") return { body };
  const said = select(body.value);
  const { value: whole, ...rest } = body;
  const texts = SHOWN_TEXTS[locale];
  // What could not be selected is not shown whole: it may hold what its author wanted to leave out.
  if ("failed" in said) return { body: { ...rest, value: null }, note: texts.notSelected(said.failed) };
  if (said.found !== null || whole === null) return { body: { ...rest, value: said.found } };
  const members = membersOf(whole).slice(0, MAX_MEMBERS);
  const names = members.map((name) => name.slice(0, MAX_NAME).toWellFormed());
  return { body: { ...rest, value: null }, note: texts.nothingSelected(names) };
}

/** `read` is how many bytes there were of a result that was longer. */
function showJson(value: JsonValue, read: number | undefined, showing: Showing): ShownData {
  const shown = partOf(value, read !== undefined, showing);
  if (read === undefined || shown.stored) return shown;
  const cut = SHOWN_TEXTS[showing.locale].cutOff(read);
  return { ...shown, note: shown.note === undefined ? cut : `${cut} ${shown.note}` };
}

function partOf(value: JsonValue, cut: boolean, showing: Showing): ShownData {
  if (typeof value === "string") return showText(value, cut, showing);
  const text = withoutTurnMarkup(stringifyJson(value));
  const bytes = Buffer.byteLength(text);
  const { maxBytes, locale, reference } = showing;
  if (bytes <= maxBytes) return { json: text };
  if (reference) return store({ kind: "json", text: stringifyJson(value), cut }, value, showing);
  const short = shortenJson(value, maxBytes);
  if (!short) return showText(text, false, showing);
  const places = short.missing.slice(0, MAX_PLACES).map(shortPath);
  const note = SHOWN_TEXTS[locale].shortened(
    Buffer.byteLength(short.text),
    bytes,
    places,
    short.missing.length - places.length,
  );
  return { json: short.text, note };
}

const MAX_PATH = 100;

function shortPath(missing: Missing): Missing {
  const { path } = missing;
  return path.length <= MAX_PATH ? missing : { ...missing, path: `…${path.slice(-MAX_PATH).toWellFormed()}` };
}

function showText(text: string, cutBefore: boolean, showing: Showing): ShownData {
  const bytes = Buffer.byteLength(text);
  const { maxBytes, locale, reference } = showing;
  if (bytes <= maxBytes && !cutBefore) return { json: shownString(text.toWellFormed()) };
  if (reference) return store({ kind: "text", text: text.toWellFormed(), cut: cutBefore }, text, showing);
  const shown = text.slice(0, fitting(text, maxBytes)).toWellFormed();
  const note = RESULT_TEXTS[locale].truncated(Buffer.byteLength(shown), cutBefore ? undefined : bytes);
  return { json: shownString(shown + note) };
}

function store(
  stored: Omit<StoredText, "reference">,
  value: JsonValue,
  { maxBytes, locale, reference }: Showing,
): ShownData {
  const id = reference?.() ?? "";
  const texts = SHOWN_TEXTS[locale];
  return {
    json: withoutTurnMarkup(summaryOf(id, value, maxBytes)),
    note: stored.cut ? texts.storedPart(READ_RESULT) : texts.stored(READ_RESULT),
    stored: { ...stored, reference: id },
  };
}

/** Of an image its size in pixels too, and its type where the header does not tell. */
function typeOf({ type }: { type: string }, { body }: ToolReply): string {
  const image: ImageSize | undefined = imageSize(body);
  if (!image) return type;
  return `${type.startsWith("image/") ? type : image.type}, ${image.width}×${image.height}`;
}

function sizeText(reply: ToolReply, locale: Locale): string {
  const bytes = reply.body.length;
  const size = bytes < 1000 ? `${bytes} B` : `${Math.round(bytes / 1000)} kB`;
  return reply.truncated ? RESULT_TEXTS[locale].moreThan(size) : size;
}
