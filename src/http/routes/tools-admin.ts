import type { ToolDefinition, ToolLevel } from "../../core/tool.ts";
import { GatewayError } from "../../errors.ts";

const LEVELS: readonly ToolLevel[] = ["read", "write", "admin"];

/** What is guarded of a definition. */
type Guarded = Pick<ToolDefinition, "level" | "confirm" | "four_eyes" | "http" | "rules">;

/**
 * What whoever keeps the tools, and is no administrator, may not do to a tool: lower its level, lift the approval of its calls, let who asks also
 * approve, or send it a secret that it did not get before. Throws `insufficient_scope`.
 */
export function checkNarrowing(before: Guarded | undefined, after: Guarded): void {
  const rank = ({ level }: Guarded) => LEVELS.indexOf(level);
  if (before && rank(after) < rank(before)) throw refused("lower the level of a tool");
  if (after.confirm === "never" && after.level !== "read" && before?.confirm !== "never") {
    throw refused("lift the approval of a tool");
  }
  if (before?.four_eyes === true && after.four_eyes !== true) throw refused("lift four_eyes of a tool");
  const known = secretsIn(before);
  if ([...secretsIn(after)].some((name) => !known.has(name))) throw refused("bind a secret to a tool");
}

/** Where a secret goes matters too: the same name with another host is another binding. */
function secretsIn(tool: Guarded | undefined): Set<string> {
  const text = tool ? JSON.stringify([tool.http, tool.rules ?? []]) : "";
  const host = tool ? hostOf(tool.http.url) : "";
  return new Set([...text.matchAll(/\$\{secret:([^}]*)\}/g)].map(([, name]) => `${name} ${host}`));
}

/** The scheme and host of a template; placeholders are no part of it. */
const hostOf = (url: string): string => /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? url;

const refused = (what: string): GatewayError =>
  new GatewayError("insufficient_scope", `This key may not ${what}. An administrator can.`);
