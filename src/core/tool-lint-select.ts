import { leadingMembers } from "./jmespath/compile-select.ts";
import type { SchemaShape } from "./schema/schema-shape.ts";
import type { ToolDefinition } from "./tool.ts";
import { type LintNote, note } from "./tool-lint-note.ts";

/** A `result.select` that begins with a member which the tool's own `output` does not have: the model would never see anything. */
export function lintSelect(
  { result: { select } }: Pick<ToolDefinition, "result">,
  output: SchemaShape | undefined,
): LintNote[] {
  if (select === undefined || !output) return [];
  const place = output.at(leadingMembers(select));
  if (!("missing" in place)) return [];
  const { missing, before, names } = place;
  const inside = before.length === 0 ? '"output"' : `"${before.join(".")}" in "output"`;
  const message = `"result.select" asks for "${missing}", but ${inside} has no such member: the model would see nothing.`;
  const known = names.length > 0 ? `one of ${names.join(", ")}` : 'add it to "output"';
  return [note("select_not_in_output", "result.select", message, known)];
}
