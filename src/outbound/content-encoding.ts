import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createUnzip } from "node:zlib";

export interface BoundedBody {
  body: Buffer;
  /** More was there than is kept. */
  truncated: boolean;
}

/**
 * Unpacks `gzip`, `deflate` and `br`, at most `maxBytes` of it, so a small answer cannot fill the memory. Any other
 * `content-encoding` leaves the bytes as they are. Rejects when the bytes are not what the encoding says.
 */
export async function decodeBody(
  raw: BoundedBody,
  encoding: string | string[] | undefined,
  maxBytes: number,
): Promise<BoundedBody> {
  const unpacker = raw.body.length > 0 ? unpackerFor(String(encoding ?? "").toLowerCase()) : undefined;
  if (!unpacker) return raw;
  unpacker.end(raw.body);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of unpacker as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  const body = Buffer.concat(chunks).subarray(0, maxBytes);
  return { body, truncated: raw.truncated || size > maxBytes };
}

/** With these flush modes the end of a cut input is the end of the output and no error. */
function unpackerFor(encoding: string): Transform | undefined {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
    case "deflate":
      return createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
    case "br":
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}
