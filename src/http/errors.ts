import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { asGatewayError, type ErrorCode, GatewayError } from "../errors.ts";
import { bodyTooLarge, LINGER } from "./framing.ts";

/** Faults that Fastify finds itself. What is not here and carries a 4xx status becomes `bad_request`. */
const FRAMEWORK_ERRORS = new Map<string | undefined, readonly [ErrorCode, string]>([
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", ["unsupported_media_type", "Send the body as application/json."]],
  ["FST_ERR_CTP_INVALID_CONTENT_LENGTH", ["bad_request", "The body is not as long as Content-Length says."]],
  ["FST_ERR_BAD_URL", ["bad_request", "The request target is not a valid URL."]],
]);

const RETRY_AFTER_MAX_S = 60;

/**
 * The one error handler: every failure leaves as the OpenAI envelope with the status of `src/errors.ts`.
 *
 * 1. What is not a `GatewayError` is answered with a constant text and handed to `onError`; its message goes nowhere else.
 * 2. `x-should-retry` says what an OpenAI SDK shall do, unless the error's own headers say it or the status is an upstream's.
 * 3. `retry-after` is between 1 and 60 s, because SDKs sleep for whatever it says; an upstream's own value is kept.
 * 4. An answer that closes the connection while the body is still coming is followed by up to 2 s or 16 MiB of reading,
 *    for a socket that closes over unread bytes takes the answer with it.
 * 5. When the answer has already begun, the connection is cut: a clean end would look like success.
 */
export function createErrorHandler(onError: (error: unknown, request: FastifyRequest) => void) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const failure = translate(error);
    if (failure.code === "internal_error") onError(error, request);
    if (reply.raw.headersSent) return void reply.raw.destroy();
    const headers = answerHeaders(failure);
    reply.code(failure.status).headers(headers).header("x-request-id", request.id);
    reply.header("cache-control", "no-store").type("application/json; charset=utf-8");
    // Fastify ends the connection after any unreadable body; after one that has arrived whole there is no need.
    if (headers["connection"] === undefined) reply.removeHeader("connection");
    else if (!request.raw.complete) return void sendAndLinger(failure, request, reply);
    void reply.send(failure.toBody());
  };
}

function translate(error: unknown): GatewayError {
  if (error instanceof GatewayError || !(error instanceof Error)) return asGatewayError(error);
  const { code, statusCode, validation } = error as Error & {
    code?: string;
    statusCode?: number;
    validation?: readonly { instancePath: string }[];
  };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return bodyTooLarge();
  const known = FRAMEWORK_ERRORS.get(code);
  if (known) return new GatewayError(known[0], known[1], { cause: error });
  if (validation) {
    const param = validation[0]?.instancePath.slice(1).replaceAll("/", ".");
    return new GatewayError("invalid_value", error.message, { cause: error, ...(param && { param }) });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new GatewayError("bad_request", "The request could not be read.", { cause: error });
  }
  return asGatewayError(error);
}

function answerHeaders(failure: GatewayError): Record<string, string> {
  const own = failure.options.headers ?? {};
  if (failure.options.upstream) return { ...own };
  const headers: Record<string, string> = {};
  const wait = Number(own["retry-after"]);
  const advice = retryAdvice(failure.status, wait);
  if (advice !== undefined) headers["x-should-retry"] = String(advice);
  if (failure.status === 401) headers["www-authenticate"] = "Bearer";
  Object.assign(headers, own);
  if (own["retry-after"] !== undefined) {
    headers["retry-after"] = String(Math.min(Math.max(Math.ceil(wait) || 1, 1), RETRY_AFTER_MAX_S));
  }
  return headers;
}

/** `undefined` leaves it to the SDK. `waitS` is not a number where no `retry-after` is sent. */
function retryAdvice(status: number, waitS: number): boolean | undefined {
  if (status === 503) return true;
  if (status === 429) return !(waitS > RETRY_AFTER_MAX_S);
  return status >= 500 || status === 408 ? undefined : false;
}

/** The whole answer goes out now; the response ends, and with it the connection, when the client has finished. */
function sendAndLinger(failure: GatewayError, { raw: source }: FastifyRequest, reply: FastifyReply): void {
  const body = Buffer.from(JSON.stringify(failure.toBody()));
  reply.hijack();
  const { raw } = reply;
  const headers = { ...reply.getHeaders(), "content-length": body.length } as OutgoingHttpHeaders;
  raw.writeHead(reply.statusCode, headers);
  raw.write(body);
  const finish = () => {
    clearTimeout(timer);
    raw.end();
  };
  const timer = setTimeout(finish, LINGER.ms);
  let left: number = LINGER.bytes;
  source.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) finish();
  });
  source.once("end", finish).once("close", finish).once("error", finish).resume();
}
