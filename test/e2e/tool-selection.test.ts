import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ask, complete } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { whole } from "./support/upstream.ts";
import { startWorld } from "./support/world.ts";

const THINGS = [
  "invoice",
  "flight",
  "hotel",
  "parcel",
  "contract",
  "meeting",
  "recipe",
  "song",
  "photo",
  "garden",
];
const DEEDS = ["create", "cancel", "find", "print", "archive", "share"];

test("of sixty tools the ten that fit go to the model, and what is asked for by name stays", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, []);
  for (const deed of DEEDS) {
    for (const thing of THINGS) {
      const description = `Use it to ${deed} a ${thing} of the user.`;
      await registerTool(gateway, `${deed}_${thing}`, { url: tools.urlOf("any"), description });
    }
  }
  upstream.script("m", [whole({ text: "Fine." })]);
  const client = new OpenAI({ apiKey: "none", baseURL: `${gateway.url}/v1` });
  const question = {
    model: "m",
    messages: [{ role: "user" as const, content: "Cancel my flight to Oslo, please." }],
  };
  const { response } = await client.chat.completions.create(question).withResponse();
  const offered = () =>
    upstream
      .of("m")
      .at(-1)
      ?.body.tools?.map((tool) => tool.function.name) ?? [];
  assert.equal(offered().length, 10);
  assert.ok(offered().includes("cancel_flight"));
  assert.deepEqual(offered(), offered().toSorted());
  const run = await fetch(`${gateway.url}/runs/${response.headers.get("x-toolweir-run-id")}`);
  const record = JSON.parse(await run.text());
  assert.equal(record.selection.considered, 60);
  const why = record.selection.tools.find((tool: { name: string }) => tool.name === "cancel_flight");
  assert.equal(why.reason, "ranked");
  assert.ok(why.score > 0);
  await complete(
    gateway,
    ask("m", { ...question, tool_choice: { type: "function", function: { name: "print_song" } } }),
  );
  assert.ok(offered().includes("print_song"));
  await complete(gateway, ask("m", question), { "x-toolweir-tools": "print_song,share_photo" });
  assert.deepEqual(offered(), ["print_song", "share_photo"]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /toolweir_selection_duration_seconds_count 2/);
});

test("a tool that was used in the session stays among the offered", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t, [], { yaml: "selection: { max_tools: 2 }" });
  for (const thing of THINGS) await registerTool(gateway, `find_${thing}`, { url: tools.urlOf("any") });
  const session = { "x-toolweir-session": "s1" };
  const say = (content: string) => ask("m", { messages: [{ role: "user", content }] });
  upstream.script("m", [
    whole({ calls: [{ name: "find_recipe", args: { place: "x" } }] }),
    whole({ text: "Done." }),
  ]);
  await complete(gateway, say("a recipe"), session);
  await complete(gateway, say("and a song"), session);
  const offered = upstream
    .of("m")
    .at(-1)
    ?.body.tools?.map((tool) => tool.function.name);
  assert.deepEqual(offered, ["find_recipe", "find_song"]);
});
