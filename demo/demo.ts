import { styleText } from "node:util";
import { OpenAIError } from "openai";
import { ConfigError } from "../src/config-faults.ts";
import { registerTools, startGateway } from "./gateway.ts";
import { hints } from "./hints.ts";
import type { Listening } from "./listen.ts";
import { type DemoOptions, demoOptions, UsageError } from "./options.ts";
import { play } from "./play.ts";
import { Screen, type Style } from "./screen.ts";
import { startToolServer } from "./tool-server.ts";
import { startUpstream } from "./upstream.ts";

const QUESTION =
  "What is the weather in Zurich, how much are 200 euros in Swiss francs, and which morning train goes from Paris to Zurich?";
/** Where the output goes to no terminal. */
const DEFAULT_WIDTH = 120;

const paint = (style: Style, text: string) => styleText(style, text);
const say = (text = "") => process.stdout.write(`${text}\n`);
const open: Listening[] = [];
let stopping = false;

/** Starts a server that ends with the demo. */
async function started(server: Promise<Listening>): Promise<string> {
  const listening = await server;
  open.unshift(listening);
  return listening.url;
}

async function closeAll(): Promise<void> {
  for (const server of open.splice(0)) await server.close();
}

async function run(options: DemoOptions): Promise<void> {
  const { real, model } = options;
  const upstream = real ?? { url: `${await started(startUpstream())}/v1`, key: "sk-of-the-demo" };
  const toolServer = await started(startToolServer());
  const gateway = await started(startGateway(upstream));
  say(paint("bold", "Toolweir: a model, a tool server and the gateway between them"));
  say();
  say(
    `  model server  ${upstream.url}  ${real ? model : "scripted: no key, no network, and mistakes on purpose"}`,
  );
  say(`  tool server   ${toolServer}  plain HTTP, made-up data`);
  say(`  gateway       ${gateway}`);
  say();
  for (const { name, status, version } of await registerTools(gateway, toolServer)) {
    say(`  PUT ${`/tools/${name}`.padEnd(24)}  ${status}, version ${version}`);
  }
  say();
  say(`${paint("bold", "Question")}  ${QUESTION}`);
  say();
  const screen = new Screen({ width: terminalWidth(), write: (text) => process.stdout.write(text), paint });
  const runId = await play({ gateway, model, question: QUESTION, screen });
  say();
  const took = `The demo took ${(performance.now() / 1000).toFixed(1)} s`;
  if (options.once) {
    say(`${took}.`);
    return closeAll();
  }
  for (const line of hints({ gateway, model, runId, scripted: !real })) say(line);
  say();
  say(paint("bold", `${took} and keeps running. Ctrl-C ends it.`));
}

function terminalWidth(): number {
  return process.stdout.columns || Number(process.env["COLUMNS"]) || DEFAULT_WIDTH;
}

/** The first signal closes the servers, a second one ends at once. */
function stopOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      stopping = true;
      void closeAll().then(() => process.exit(0));
    });
  }
  // A reader that has gone, as `head` does: there is nobody left to show anything to.
  process.stdout.on("error", () => process.exit(0));
}

/** The SDK in this process talks to the gateway; whatever it would take from the environment is meant for somebody else. */
function withoutOpenAiVariables(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith("OPENAI_")) delete process.env[name];
}

/** What the user can do something about, as one line; anything else is a bug and shows where it comes from. */
function explained(error: unknown, real: DemoOptions["real"]): string | undefined {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message;
  if (!(error instanceof OpenAIError) || !real) return undefined;
  return `${real.url} did not answer the question: ${error.message.replace(/\s+/g, " ")}`;
}

let options: DemoOptions | undefined;
try {
  options = demoOptions(process.argv.slice(2), process.env);
  withoutOpenAiVariables();
  stopOnSignals();
  await run(options);
} catch (error) {
  // What fails while the servers are being closed fails because of it.
  const line = stopping ? "" : explained(error, options?.real);
  if (line === undefined) throw error;
  if (line) console.error(line);
  process.exitCode = stopping ? 0 : 1;
  await closeAll();
}
