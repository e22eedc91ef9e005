import { send } from "./client.ts";
import { type Cleanup, type Gateway, type GatewayOptions, registerTool } from "./gateway.ts";
import type { Reply } from "./upstream.ts";
import { startWorld, type World } from "./world.ts";

/** A reply that orders something, which a person has to approve. */
export const ORDERS: Reply = {
  text: "I order it. ",
  calls: [{ name: "create_order", args: { place: "Oslo" } }],
};
/** A reply that answers. */
export const SAYS: Reply = { text: "Done." };

/** An approval as the API shows it. */
export interface Approval {
  id: string;
  status: string;
  name: string;
  arguments: Record<string, unknown>;
  arguments_sha256: string;
  request: { method: string; url: string; headers: Record<string, string>; body?: string } | null;
  decision: string | null;
  decided_by: string | null;
  result: { success: boolean; data: unknown; error: string | null } | null;
  attempts: number;
  [member: string]: unknown;
}

/** Keys of a gateway with people: `app` and `other` ask, `boss` approves, `both` does both; `admin-key` manages. */
export const PEOPLE = {
  yaml: `auth:
  mode: keys
  keys:
    - { name: app, key: app-key }
    - { name: other, key: other-key }
    - { name: boss, key: boss-key, approve: true }
    - { name: both, key: both-key, approve: true }`,
  env: { TOOLWEIR_ADMIN_KEY: "admin-key" },
};

export const as = (name: string) => ({ authorization: `Bearer ${name}-key` });

/** A world in which `create_order` needs an approval. */
export async function startShop(t: Cleanup, options: GatewayOptions = {}, tool: object = {}): Promise<World> {
  const world = await startWorld(t, [], options);
  const headers = options.env?.["TOOLWEIR_ADMIN_KEY"] ? as("admin") : {};
  const definition = { url: world.tools.urlOf("create_order"), level: "write", ...tool };
  await registerTool(world.gateway, "create_order", definition, headers);
  return world;
}

/** One request of the approvals API: status, headers and body. */
export async function approvals(
  gateway: Pick<Gateway, "url">,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const isGet = body === undefined;
  const response = await send(gateway, `/approvals${path}`, body, headers, isGet ? "GET" : "POST");
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

/** The approval once it is no longer about to be carried out. */
export async function settled(
  gateway: Pick<Gateway, "url">,
  id: string,
  headers: Record<string, string> = {},
): Promise<Approval> {
  for (let tries = 0; tries < 400; tries++) {
    const { body } = await approvals(gateway, `/${id}`, undefined, headers);
    if (body.status !== "approved" && body.status !== "executing") return body;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${id} is not settled`);
}
