import type { CallPiece } from "./chunks.ts";
import { fakeTransport, type Played, play, type Scene, toolNamed, toolReply } from "./engine.ts";
import { type FakeTarget, fakeTarget, type ScriptedReply } from "./upstream.ts";

/** A call of the gateway's tool `get_weather`. */
export const weather = (id: string, city = id): CallPiece => ({
  id,
  name: "get_weather",
  args: JSON.stringify({ city }),
});

/** The declaration of the client's tool `ask`, and a call of it. */
export const ASK = { type: "function", function: { name: "ask" } };
export const askCall: CallPiece = { id: "u1", name: "ask", args: '{"q":"Which?"}' };

/** A run that is over, with the upstream and the tools it used. */
export interface Performed extends Played {
  target: FakeTarget;
  transport: ReturnType<typeof fakeTransport>;
  stop: string;
}

/** Plays a run against replies, with the tool `get_weather`, which always says `rain`. */
export async function perform(
  replies: readonly (string | ScriptedReply)[],
  scene: Partial<Scene> = {},
): Promise<Performed> {
  const target = fakeTarget(replies);
  const transport = fakeTransport(() => toolReply("rain"));
  const played = await play({ tools: [toolNamed("get_weather")], transport, ...scene, targets: [target] });
  return { ...played, target, transport, stop: played.ending.summary.stop_reason };
}
