import { breakingChanges } from "../../core/schema/breaking-changes.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { type LintNote, note } from "../../core/tool-lint-note.ts";

/** What calls made for one version of a tool would not fit in another one. */
export function changeNotes(
  { parameters: before }: Pick<ToolDefinition, "parameters">,
  { parameters: after }: Pick<ToolDefinition, "parameters">,
): LintNote[] {
  return breakingChanges(before, after).map(({ path, change }) => {
    const message = `It ${change}: calls made for the version before may be refused.`;
    return note(
      "breaking_change",
      path === "" ? "parameters" : `parameters.${path}`,
      message,
      'a "canary" of the new version first, or a new name',
    );
  });
}
