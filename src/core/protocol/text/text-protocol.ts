import { autoFormat } from "./auto.ts";
import { TEXT_FORMATS } from "./formats/all.ts";
import { MarkerScan } from "./marker-scan.ts";
import type { ReaderContext, TextFormat } from "./reader.ts";
import { TextAdapter } from "./text-adapter.ts";

const byName = new Map(TEXT_FORMATS.flatMap((format) => format.names.map((name) => [name, format] as const)));
const scans = new WeakMap<TextFormat, MarkerScan>();

/** What `models[].protocol` may say. */
export const PROTOCOL_NAMES: readonly string[] = ["native", "auto", ...byName.keys()];

/**
 * Makes the adapter of one choice of one reply; `undefined` where the provider's own calls are all there is to read. `setting` is one of
 * `PROTOCOL_NAMES`; with `auto` the name of the model decides, and what arrives.
 */
export function textProtocol(
  setting: string,
  model: string,
): ((tools: ReaderContext["tools"], reasoningPrefilled?: boolean) => TextAdapter) | undefined {
  const format = setting === "auto" ? autoFormat(model) : byName.get(setting);
  if (!format) return undefined;
  const scan = scans.get(format) ?? new MarkerScan(format.markers);
  scans.set(format, scan);
  return (tools, reasoningPrefilled = false) => new TextAdapter(format, scan, { tools, reasoningPrefilled });
}
