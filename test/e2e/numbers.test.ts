import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { streamed } from "./support/upstream.ts";
import { ANSWERS, startWorld } from "./support/world.ts";

test("numbers of untyped parameters reach the tool as they were written, unless a double says the same", async (t) => {
  const { gateway, tools, upstream } = await startWorld(t, []);
  const parameters = { type: "object", additionalProperties: true };
  await registerTool(gateway, "keep", { url: tools.urlOf("keep"), parameters });
  const args =
    '{"a":1e400,"b":-0,"c":[0.1e-400,{"d":3.14159265358979323846}],"e":12345678901234567890,"f":1.5}';
  upstream.script("m", [streamed({ calls: [{ name: "keep", args }] }), streamed(ANSWERS)]);
  await stream(gateway, ask("m"));
  assert.equal(tools.of("keep")[0]?.text, args);
});
