import type { GrammarFormat } from "../machine/grammar.ts";
import { HEADER_FORMATS } from "./headers.ts";
import { JSON_FORMATS } from "./json.ts";
import { LITERAL_FORMATS } from "./literals.ts";
import { NAME_FORMATS } from "./names.ts";
import { TAG_FORMATS } from "./tags.ts";

/** Every text format. */
export const TEXT_FORMATS: readonly GrammarFormat[] = [
  ...JSON_FORMATS,
  ...NAME_FORMATS,
  ...TAG_FORMATS,
  ...LITERAL_FORMATS,
  ...HEADER_FORMATS,
];
