import { TEXT_FORMATS } from "./formats.ts";
import { MarkerScan } from "./marker-scan.ts";
import type { ReaderContext, TextFormat } from "./reader.ts";
import { TextAdapter } from "./text-adapter.ts";

/** A format, ready to read replies in. */
export interface TextProtocol {
  format: TextFormat;
  /** The adapter of one choice of one reply. */
  adapter(tools: ReaderContext["tools"]): TextAdapter;
}

const byName = new Map(
  TEXT_FORMATS.flatMap((format) => {
    const protocol = makeProtocol(format);
    return format.names.map((name) => [name, protocol] as const);
  }),
);

/** What `models[].protocol` may say. */
export const PROTOCOL_NAMES: readonly string[] = ["native", "auto", ...byName.keys()];

/** The protocol of a setting for a model; `undefined` where the provider's own calls are all there is to read. */
export function textProtocol(setting: string, _model: string): TextProtocol | undefined {
  return byName.get(setting);
}

function makeProtocol(format: TextFormat): TextProtocol {
  const scan = new MarkerScan(format.markers);
  return {
    format,
    adapter: (tools) => new TextAdapter(format, scan, { tools, reasoningPrefilled: false }),
  };
}
