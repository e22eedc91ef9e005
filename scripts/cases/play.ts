import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import type { CaseFile, CaseTool, Turn } from "./case-file.ts";
import { readAnswer, send } from "./client.ts";
import type { Gateway } from "./gateway.ts";
import { judge, type Replay } from "./judge.ts";
import { callTurn, type Script, type ScriptedServers } from "./scripted-servers.ts";

/** Where cases are played. */
export interface Stage {
  gateway: Pick<Gateway, "url">;
  servers: ScriptedServers;
}

/** One way to play a case. */
interface Form {
  turns: readonly Turn[];
  tools: readonly CaseTool[];
  expect: CaseFile["expect"];
}

/** Why a case cannot be played; `undefined` where it can. */
export function whyNot(file: CaseFile): string | undefined {
  if (file.area === "reliability") return "its scenario is in words";
  return formsOf(file).length > 0 ? undefined : "it has neither an upstream nor an argument text";
}

/** Plays a case in every form that it has. Returns what went wrong, in words; nothing where all is as expected. */
export async function playCase(stage: Stage, file: CaseFile): Promise<string[]> {
  const faults: string[] = [];
  for (const form of formsOf(file)) faults.push(...(await playForm(stage, file, form)));
  return faults;
}

function formsOf(file: CaseFile): Form[] {
  const { arguments_text: args, parameters, expect, tools = [] } = file;
  const forms: Form[] = [];
  if (args !== undefined && parameters) {
    const text = typeof args === "string" ? args : args.repeat.map(([part, n]) => part.repeat(n)).join("");
    const probe = { type: "function", function: { name: "probe", description: "Probe", parameters } };
    // The other form's calls have the name of another tool.
    const { tool_calls: _calls, rejected_calls: _rejected, ...reduced } = expect;
    forms.push({ turns: [callTurn("probe", text)], tools: [probe], expect: reduced });
  }
  const turns = file.upstream_turns ?? (file.upstream ? [file.upstream] : []);
  const { arguments: _args, ...whole } = expect;
  if (turns.length > 0) forms.push({ turns, tools, expect: args === undefined ? expect : whole });
  return forms;
}

async function playForm({ gateway, servers }: Stage, file: CaseFile, form: Form): Promise<string[]> {
  const { client_tools: clientTools = [], tool_http: toolHttp = {} } = file;
  const script: Script = { turns: form.turns, toolHttp, requests: [], toolCalls: [] };
  servers.script(file.id, script);
  const registered: string[] = [];
  try {
    for (const tool of form.tools.filter(({ function: { name } }) => !clientTools.includes(name))) {
      const refusal = await register(gateway, tool, servers.toolUrl(file.id, tool.function.name));
      if (refusal !== undefined) return accepts(form, "config") ? [] : [refusal];
      registered.push(tool.function.name);
    }
    if (form.expect.error_kind === "config" && !form.expect.alternatives)
      return ["its tools were not refused"];
    const replay = await ask(gateway, { file, form, script, clientTools, registered });
    return judge(form.expect, replay);
  } catch (error) {
    return [String(error)];
  } finally {
    for (const name of registered)
      await send("DELETE", `${gateway.url}/tools/${name}`).catch(() => undefined);
  }
}

const accepts = ({ expect }: Form, kind: string): boolean =>
  [expect, ...(expect.alternatives ?? [])].some(({ error_kind }) => error_kind === kind);

/** Returns why the tool was refused. */
async function register(gateway: Stage["gateway"], tool: CaseTool, url: string): Promise<string | undefined> {
  const { name, description = name, parameters } = tool.function;
  const definition: JsonObject = {
    description,
    ...(parameters && { parameters }),
    http: { method: "POST", url },
    level: "read",
    retry: 0,
    timeout_ms: 3_000,
  };
  const { status, text } = await send("PUT", `${gateway.url}/tools/${encodeURIComponent(name)}`, definition);
  return status < 300 ? undefined : `the tool "${name}" was refused: ${text.slice(0, 200)}`;
}

async function ask(
  gateway: Stage["gateway"],
  {
    file,
    form,
    script,
    clientTools,
    registered,
  }: Omit<Replay, "seen"> & {
    file: CaseFile;
    form: Form;
    registered: readonly string[];
  },
): Promise<Replay> {
  const own = form.tools.filter(({ function: { name } }) => clientTools.includes(name));
  const body = {
    model: file.id,
    stream: true,
    messages: [{ role: "user", content: "Go." }],
    ...(own.length > 0 && { tools: own as unknown as JsonValue }),
    ...file.request,
  };
  const headers = { "x-toolweir-tools": registered.join(",") || "none" };
  const { status, text } = await send("POST", `${gateway.url}/v1/chat/completions`, body, headers);
  return { seen: readAnswer(status, text), script, clientTools };
}
