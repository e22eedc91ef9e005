import type { SchemaObject } from "ajv";
import type { ErrorDetail } from "../errors.ts";
import type { ToolDefinition } from "./tool.ts";
import { isReservedHeader } from "./tool-endpoint.ts";
import { type LintNote, note } from "./tool-lint-note.ts";

/** How long a tool is taken to know a key, where it does not say: what services that know such keys keep them for. */
const KEY_TTL_S = 86_400;

/** The members of a definition that say how a tool that changes something may be asked. */
export const WRITE_SHAPES: Readonly<Record<string, SchemaObject>> = {
  idempotency: {
    type: "object",
    additionalProperties: false,
    required: ["mode"],
    properties: {
      mode: { enum: ["key"] },
      header: { type: "string", pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$" },
      ttl_s: { type: "integer", minimum: 1, maximum: 2_592_000, default: KEY_TTL_S },
    },
  },
  errors_mean_not_done: {
    type: "array",
    maxItems: 32,
    uniqueItems: true,
    items: { type: "integer", minimum: 300, maximum: 599 },
  },
  four_eyes: { type: "boolean" },
};

type WriteMembers = Pick<ToolDefinition, "idempotency" | "errors_mean_not_done" | "four_eyes">;

/** What is wrong with these members as far as the definition alone tells. */
export function checkWrite({ idempotency }: Partial<WriteMembers>): ErrorDetail[] {
  const header = idempotency?.header;
  if (header === undefined || header.toLowerCase() === "idempotency-key" || !isReservedHeader(header))
    return [];
  const message = `The header "${header}" is the gateway's own and cannot carry the key.`;
  return [{ reason: "header_not_allowed", path: "idempotency.header", message }];
}

/** Members that say nothing about this tool. */
export function lintWrite(definition: Omit<ToolDefinition, "version">): LintNote[] {
  const { level, confirm } = definition;
  const idle = (member: keyof WriteMembers, why: string): LintNote[] =>
    definition[member] === undefined
      ? []
      : [note("no_effect", member, `"${member}" has no effect: ${why}.`, `leave "${member}" out`)];
  if (level === "read") {
    const why = "the tool only reads";
    return [...idle("idempotency", why), ...idle("errors_mean_not_done", why), ...idle("four_eyes", why)];
  }
  return level === "write" && confirm === "never" ? idle("four_eyes", "the tool needs no approval") : [];
}
