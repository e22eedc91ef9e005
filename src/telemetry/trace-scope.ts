import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { ATTRIBUTE } from "./semantic-names.ts";
import { formatTraceparent, newTrace, parseTraceparent, type TraceContext } from "./trace-context.ts";

/** A span that is going on, or the stand-in for one where nothing is recorded, for which no name and no attributes are made. */
export interface TraceScope {
  readonly traceId: string;
  /** For a request that is made within the span. */
  readonly traceparent: string;
  child(name: () => string, kind: SpanKind, attributes: () => Attributes): TraceScope;
  /** Closes the span. `error`, a closed word, marks it as failed. */
  end(attributes: () => Attributes, error?: string): void;
}

/**
 * The root of what is traced about one request. A valid `traceparent` of the client is continued, else a new trace begins. Without a
 * tracer there are no spans: the client's own context, or one new id, goes out unchanged with every request, as for a
 * participant that does not record.
 */
export function startTrace(
  tracer: Tracer | undefined,
  traceparent: string | undefined,
  name: string,
  attributes: () => Attributes,
): TraceScope {
  const incoming = parseTraceparent(traceparent);
  if (!tracer) return new UnrecordedScope(incoming ?? newTrace());
  const parent = incoming ? trace.setSpanContext(ROOT_CONTEXT, remote(incoming)) : ROOT_CONTEXT;
  return new RecordedScope(tracer, parent, name, SpanKind.SERVER, attributes());
}

function remote({ traceId, spanId, flags }: TraceContext) {
  return { traceId, spanId, traceFlags: flags, isRemote: true };
}

class UnrecordedScope implements TraceScope {
  readonly traceId: string;
  readonly traceparent: string;

  constructor(context: TraceContext) {
    this.traceId = context.traceId;
    this.traceparent = formatTraceparent(context);
  }

  child(): TraceScope {
    return this;
  }

  end(): void {}
}

class RecordedScope implements TraceScope {
  readonly #tracer: Tracer;
  readonly #context: Context;
  readonly #span: Span;

  constructor(tracer: Tracer, parent: Context, name: string, kind: SpanKind, attributes: Attributes) {
    this.#tracer = tracer;
    this.#span = tracer.startSpan(name, { kind, attributes }, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return formatTraceparent({ traceId, spanId, flags: traceFlags });
  }

  child(name: () => string, kind: SpanKind, attributes: () => Attributes): TraceScope {
    return new RecordedScope(this.#tracer, this.#context, name(), kind, attributes());
  }

  end(attributes: () => Attributes, error?: string): void {
    this.#span.setAttributes(attributes());
    if (error !== undefined) {
      this.#span.setAttribute(ATTRIBUTE.errorType, error).setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}
