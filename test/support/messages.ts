/** What the model is told of a call. */
export interface ToldAnswer {
  tool_call_id: string;
  tool_name: string;
  success: boolean;
  data: unknown;
  error: string | null;
  note?: string;
}

interface SentMessage {
  role: string;
  tool_call_id?: string;
  content?: string;
}

/** The tool messages of an upstream request, in their order. Throws where an envelope names another call than its message. */
export function answersIn(request: Record<string, unknown>): ToldAnswer[] {
  const messages = (request["messages"] as SentMessage[]).filter(({ role }) => role === "tool");
  return messages.map(({ tool_call_id, content }) => {
    const told = JSON.parse(content ?? "") as ToldAnswer;
    if (told.tool_call_id !== tool_call_id)
      throw new Error(`${tool_call_id} is answered as ${told.tool_call_id}`);
    return told;
  });
}
