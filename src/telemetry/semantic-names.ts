/**
 * Names of span attributes: those of OpenTelemetry's semantic conventions for generative AI, which are still in development and
 * therefore stand in this one place, and our own under `toolweir`.
 */
export const ATTRIBUTE = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  model: "gen_ai.request.model",
  stream: "gen_ai.request.stream",
  finishReasons: "gen_ai.response.finish_reasons",
  firstChunkSeconds: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  errorType: "error.type",
  runId: "toolweir.run_id",
  stopReason: "toolweir.stop_reason",
  round: "toolweir.round",
  rounds: "toolweir.rounds",
  upstream: "toolweir.upstream",
  attempts: "toolweir.attempts",
  outcome: "toolweir.outcome",
} as const;

/** Values of `gen_ai.operation.name`: a run, one completion of it, one tool call of it. */
export const OPERATION = { run: "invoke_agent", round: "chat", tool: "execute_tool" } as const;

/** What a completion used, as far as its `usage` says so. */
export function usageAttributes(usage: unknown): Record<string, number> {
  if (typeof usage !== "object" || usage === null) return {};
  const { prompt_tokens: input, completion_tokens: output } = usage as Record<string, unknown>;
  return {
    ...(typeof input === "number" && { [ATTRIBUTE.inputTokens]: input }),
    ...(typeof output === "number" && { [ATTRIBUTE.outputTokens]: output }),
  };
}
