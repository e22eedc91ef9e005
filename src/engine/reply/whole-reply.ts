import { isObject } from "../../core/protocol/adapter.ts";
import { errorText } from "../../core/protocol/visible.ts";
import type { ChatChunk } from "../../core/protocol/wire.ts";
import { GatewayError } from "../../errors.ts";
import type { ReplyHead } from "../ports/upstream.ts";

/** Reads an unstreamed completion. Throws `upstream_invalid_response`, or what `told` makes of an error inside a 200. */
export function readWholeReply(
  head: ReplyHead,
  body: Buffer,
  told: (error: unknown) => GatewayError,
): ChatChunk {
  const type = head.contentType.split(";")[0]?.trim() ?? "";
  if (type !== "" && !/[/+]json$/.test(type)) {
    throw invalid(`The upstream answered ${head.status} with ${type} instead of a completion.`);
  }
  const value = parse(body);
  if (!isObject(value))
    throw invalid(`The upstream answered ${head.status} with a body that is not a JSON object.`);
  if (value["error"]) throw told(value["error"]);
  const [choice] = Array.isArray(value["choices"]) ? value["choices"] : [];
  if (!isObject(choice)) throw invalid("The upstream's completion has no choices.");
  return value;
}

/**
 * The error for a status that is no success: the upstream's own status, type, code and text are kept, without the gateway's
 * secrets. A redirect is never followed.
 */
export function upstreamFailure(
  head: ReplyHead,
  body: Buffer,
  scrub: (text: string) => string,
): GatewayError {
  const { status, retryAfterMs } = head;
  if (status < 400) {
    return new GatewayError(
      "upstream_invalid_response",
      `The upstream answered with status ${status}, which is not followed.`,
    );
  }
  const value = parse(body);
  const error = isObject(value) ? value["error"] : undefined;
  const detail = value === undefined ? "" : errorText(error ?? value);
  return new GatewayError("upstream_error", scrub(detail) || `The upstream answered with status ${status}.`, {
    upstream: {
      status,
      type: isObject(error) && typeof error["type"] === "string" ? error["type"] : undefined,
      code: isObject(error) ? codeOf(error["code"]) : undefined,
    },
    ...(retryAfterMs !== undefined && { headers: { "retry-after": String(Math.ceil(retryAfterMs / 1000)) } }),
  });
}

function codeOf(code: unknown): string | null | undefined {
  if (code === null) return null;
  return code === undefined ? undefined : String(code);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

const invalid = (message: string) => new GatewayError("upstream_invalid_response", message);
