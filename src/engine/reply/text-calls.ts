import { isObject } from "../../core/protocol/adapter.ts";
import { hasThought } from "../../core/protocol/text/prompt/formats.ts";
import type { ParameterSchema } from "../../core/protocol/text/reader.ts";
import type { TextAdapter } from "../../core/protocol/text/text-adapter.ts";
import { textProtocol } from "../../core/protocol/text/text-protocol.ts";
import type { UpstreamTarget } from "../ports/upstream.ts";
import type { Run } from "../run-state.ts";
import type { Reply } from "./reply-content.ts";

/**
 * What finds calls in the text of a model's reply to this run; `undefined` where its protocol is `native`.
 *
 * Only what the model says is ever read: the text of users, of tools and of earlier turns is not. Where the client forbids calls,
 * none is looked for.
 */
export function textAdapterOf(
  run: Run,
  { protocol: setting, reasoning }: Pick<UpstreamTarget, "protocol" | "reasoning">,
): (() => TextAdapter) | undefined {
  const protocol = setting === "native" ? undefined : textProtocol(setting, run.request.model);
  if (!protocol) return undefined;
  const tools = run.request.tool_choice === "none" ? new Map<string, undefined>() : declaredTools(run);
  return () => protocol(tools, reasoning === "prefilled");
}

/** What the model thought before its calls, in a protocol that has a place for it. */
export function thoughtOf(reply: Reply): string | undefined {
  const thought = hasThought(reply.protocol) ? reply.toMessage([])["reasoning_content"] : undefined;
  return typeof thought === "string" ? thought.trim() : undefined;
}

function declaredTools({ offer, request }: Run): Map<string, ParameterSchema | undefined> {
  const own = (request.tools ?? []).flatMap(({ function: declared }) =>
    typeof declared?.name === "string" ? [[declared.name, schemaOf(declared.parameters)] as const] : [],
  );
  const mine = [...offer.gateway].map(
    ([name, tool]) => [name, schemaOf(tool.definition.parameters)] as const,
  );
  return new Map([...own, ...mine]);
}

const schemaOf = (parameters: unknown): ParameterSchema | undefined =>
  isObject(parameters) ? parameters : undefined;
