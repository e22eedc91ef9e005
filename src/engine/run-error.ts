import { GatewayError } from "../errors.ts";

/** An SDK that repeats the request would make the model write again: it is told not to, and where to look. */
export function afterWrite(error: GatewayError, runId: string): GatewayError {
  const headers = { ...error.options.headers, "x-should-retry": "false" };
  const options = { ...error.options, headers, runId, cause: error.cause };
  if (error.code !== "internal_error") return new GatewayError(error.code, error.message, options);
  const message = `The run failed after a tool that changes something had been asked. Do not repeat it; look at run ${runId}.`;
  return new GatewayError("run_failed_after_write", message, options);
}
