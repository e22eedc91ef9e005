export interface HintOptions {
  /** Base URL of the gateway, without `/v1`. */
  gateway: string;
  model: string;
  runId: string;
  scripted: boolean;
}

/** What to try while the demo keeps running: lines that work as they stand. */
export function hints({ gateway, model, runId, scripted }: HintOptions): string[] {
  const ask = (question: string, ...members: string[]) =>
    [`"model": "${model}"`, ...members, `"messages": [{"role": "user", "content": "${question}"}]`].join(
      ", ",
    );
  const curl = (flags: string, body: string) => [
    `  curl -sS${flags} ${gateway}/v1/chat/completions \\`,
    "    -H 'content-type: application/json' \\",
    `    -d '{${body}}'`,
  ];
  const spelling = [
    "",
    "A call with a mistake of your own (the scripted model makes any call it is told to):",
    ...curl("", ask('Call get_weather {\\"town\\": \\"Oslo\\"}')),
  ];
  return [
    "Ask with curl, streamed or not:",
    ...curl("N", ask("What is the weather in Oslo?", '"stream": true')),
    ...curl("", ask("How warm is it in Lima and Quito?")),
    ...(scripted ? spelling : []),
    "",
    "Or with an SDK. Any key will do:",
    `  Node    new OpenAI({ baseURL: "${gateway}/v1", apiKey: "unused" })`,
    `  Python  OpenAI(base_url="${gateway}/v1", api_key="unused")`,
    "",
    "Look around:",
    `  ${gateway}/runs/${runId}   this run, gate by gate`,
    `  ${gateway}/tools`,
    `  ${gateway}/metrics`,
    `  ${gateway}/healthz`,
    `  ${gateway}/openapi.json`,
  ];
}
