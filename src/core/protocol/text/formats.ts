import { HEADER_FORMATS } from "./formats-headers.ts";
import { JSON_FORMATS } from "./formats-json.ts";
import { LITERAL_FORMATS } from "./formats-literals.ts";
import { NAME_FORMATS } from "./formats-names.ts";
import { TAG_FORMATS } from "./formats-tags.ts";
import type { GrammarFormat } from "./grammar.ts";

/** Every text format. */
export const TEXT_FORMATS: readonly GrammarFormat[] = [
  ...JSON_FORMATS,
  ...NAME_FORMATS,
  ...TAG_FORMATS,
  ...LITERAL_FORMATS,
  ...HEADER_FORMATS,
];
