import { JSON_FORMATS } from "./formats-json.ts";
import type { TextFormat } from "./reader.ts";

/** Every text format. */
export const TEXT_FORMATS: readonly TextFormat[] = [...JSON_FORMATS];
