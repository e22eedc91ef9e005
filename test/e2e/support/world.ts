import { type Cleanup, type Gateway, type GatewayOptions, registerTool, startGateway } from "./gateway.ts";
import { type ToolServer, toolServer } from "./tool-server.ts";
import { type Reply, type ScriptedUpstream, scriptedUpstream } from "./upstream.ts";

/** A gateway between a scripted upstream and a server of tools. */
export interface World {
  upstream: ScriptedUpstream;
  tools: ToolServer;
  gateway: Gateway;
}

/** Starts all three. The tools named are registered as `registerTool` does by default. */
export async function startWorld(
  t: Cleanup,
  tools: readonly string[] = ["get_weather"],
  options: GatewayOptions = {},
): Promise<World> {
  const upstream = await scriptedUpstream(t);
  const world = {
    upstream,
    tools: await toolServer(t),
    gateway: await startGateway(t, { upstream: upstream.baseUrl, ...options }),
  };
  for (const name of tools) await registerTool(world.gateway, name, { url: world.tools.urlOf(name) });
  return world;
}

/** A usage that tells where it came from. */
export const usage = (n: number) => ({ prompt_tokens: n, completion_tokens: 2 * n, total_tokens: 3 * n });

/** A reply that says something and calls `get_weather` for Paris. */
export const ASKS: Reply = {
  text: "Let me look. ",
  calls: [{ name: "get_weather", args: { place: "Paris" } }],
  usage: usage(10),
};

/** A reply that answers. */
export const ANSWERS: Reply = { text: "It is sunny.", usage: usage(1) };

/** The declaration of a client's own tool. */
export const clientTool = (name: string) => ({
  type: "function",
  function: { name, description: `The client's ${name}.`, parameters: { type: "object", properties: {} } },
});
