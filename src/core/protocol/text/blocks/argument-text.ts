import { repairJson } from "../../../json/repair.ts";
import type { RepairName } from "../../../json/repair-names.ts";
import { stringifyJson } from "../../../json/stringify.ts";
import type { ParameterSchema } from "../reader.ts";
import { forOnlyText } from "./declared.ts";
import { isJson, parsed } from "./json-text.ts";
import { SchemaView } from "./schema-view.ts";

/** Argument text, and what had to be put right for it. */
export interface ArgumentText {
  text: string;
  repairs: readonly RepairName[];
}

/** Arguments as an object: as they were written, where they are one. */
export function argumentText(text: string, schema: ParameterSchema | undefined): ArgumentText {
  const written = text.trim();
  if (written === "" || written === "null" || written === "None") return { text: "{}", repairs: [] };
  if (written.startsWith('"')) {
    return { text: forOnlyText(String(parsed(written) ?? written), new SchemaView(schema)), repairs: [] };
  }
  const repair = isJson(written) ? undefined : repairJson(text);
  return repair ? { text: stringifyJson(repair.value), repairs: repair.repairs } : { text, repairs: [] };
}
