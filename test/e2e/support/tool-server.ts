import type { Cleanup } from "./gateway.ts";
import { type Recorded, type ScriptedServer, scriptedServer, type Turn } from "./scripted-server.ts";

export interface ToolServer extends ScriptedServer<Record<string, unknown>> {
  /** Where the tool of this name is called. */
  urlOf(name: string): string;
  /** Sets the answers of a tool: one for each request in turn; the last one is repeated. */
  script(name: string, turns: readonly Turn[]): void;
  /** The requests to one tool, in the order of arrival. */
  of(name: string): Recorded<Record<string, unknown>>[];
}

const NAME = /^\/tool\/([^/?]+)/;

/** A server of HTTP tools. A tool without a script answers 200 with `{"tool": name, "got": arguments}`. */
export async function toolServer(t: Cleanup): Promise<ToolServer> {
  const scripts = new Map<string, Turn[]>();
  const nameOf = ({ url }: { url: string }) => NAME.exec(url)?.[1] ?? "";
  const server = await scriptedServer<Record<string, unknown>>(t, (request) => {
    const name = nameOf(request);
    const turns = scripts.get(name);
    const turn = turns && turns.length > 1 ? turns.shift() : turns?.[0];
    return turn ?? json({ tool: name, got: request.body });
  });
  return {
    ...server,
    urlOf: (name) => `${server.url}/tool/${name}`,
    script: (name, turns) => void scripts.set(name, [...turns]),
    of: (name) => server.requests.filter((request) => nameOf(request) === name),
  };
}

/** A JSON answer. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Turn {
  return { status, headers, body: [JSON.stringify(body)] };
}
