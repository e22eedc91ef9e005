import type { Offer } from "../offer.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { Run } from "../run-state.ts";
import { textsOf } from "./history.ts";
import { REFERENCE_PREFIX } from "./stored-results.ts";

/** Whether results of this run may be stored: what is stored has to be read with a tool, whose name must be free. */
export function mayStore({ offer, deps }: Run): boolean {
  return !offer.client.has(deps.results.tool.definition.name);
}

/** Offers `read_result` from the next round on. */
export function offerReading(run: Run): void {
  const { tool } = run.deps.results;
  const { name } = tool.definition;
  if (run.offer.gateway.has(name)) return;
  run.offer = withTool(run.offer, tool);
  run.record.tools_offered = [...run.record.tools_offered, name];
}

/**
 * Offers `read_result` where the conversation has a reference that this caller may read. Nothing is looked up where no text looks like a
 * reference.
 */
export async function offerForConversation(run: Run): Promise<void> {
  const isRestored = run.messages !== run.request.messages;
  if (!run.offer.mayGrow || !mayStore(run) || (!isRestored && !run.raw.includes(REFERENCE_PREFIX))) return;
  const texts = run.messages.flatMap(({ content }) => textsOf(content));
  const known = texts.filter((text) => text.includes(REFERENCE_PREFIX));
  if (await run.deps.results.knowsAny(run.resultOwner, known)) offerReading(run);
}

function withTool(offer: Offer, tool: RegisteredTool): Offer {
  const { name } = tool.definition;
  return {
    ...offer,
    gateway: new Map([...offer.gateway, [name, tool]]),
    names: [...offer.names, name],
    owner: (called) => (called === name ? "gateway" : offer.owner(called)),
    added: [...offer.added, tool.specText],
  };
}
