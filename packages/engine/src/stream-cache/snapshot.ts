import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { IdempotencyTable } from './idempotency-table.ts';
import type { StreamState } from './stream-state.ts';

/** A stream folded up to an event, and the requests that it has seen until then. */
export interface Snapshot<State = unknown> {
  readonly stream: StreamState<State>;
  readonly requests: IdempotencyTable;
}

/** The stream of a snapshot, and the code that folded it. */
export interface SnapshotIdentity {
  readonly streamName: string;
  /** Fingerprint of all code that folds: another code may fold the same events to another state. */
  readonly code: string;
}

/** A snapshot as it was at one moment, however its stream goes on, ready to become a file. */
export interface SnapshotCopy {
  readonly header: Buffer;
  readonly words: Buffer;
}

type Header = Omit<StreamState<unknown>, 'position' | 'revokedClaims'> &
  SnapshotIdentity & { readonly position: string; readonly revokedClaims: readonly string[] };

const newline = 0x0a;
const digestLength = 64;
const chunkBytes = 1 << 20;

/**
 * Copies a snapshot. Null when the state would not come back from JSON exactly as it is, in which case
 * there is no snapshot of it.
 */
export function copySnapshot(identity: SnapshotIdentity, snapshot: Snapshot): SnapshotCopy | null {
  const { stream, requests } = snapshot;
  const header: Header = {
    ...identity,
    ...stream,
    position: String(stream.position),
    revokedClaims: [...stream.revokedClaims],
  };
  const text = JSON.stringify(header);
  if (!isDeepStrictEqual((JSON.parse(text) as Header).state, stream.state)) return null;
  const { buffer, byteOffset, byteLength } = requests.words;
  return {
    header: Buffer.from(`${text}\n`),
    words: Buffer.from(Buffer.from(buffer, byteOffset, byteLength)),
  };
}

/** The parts of the file of a snapshot: a digest of all that follows, the header, the requests. */
export async function snapshotFile({ header, words }: SnapshotCopy): Promise<readonly Buffer[]> {
  const digest = await digestOf([header, words]);
  return [Buffer.from(`${digest}\n`), header, words];
}

/**
 * The snapshot in a file. Null for a file that is damaged or cut off, of another stream or of other
 * code. Whether the log still has the event that it ends with is for the caller to find out.
 */
export async function readSnapshot(
  file: Buffer,
  identity: SnapshotIdentity,
): Promise<Snapshot | null> {
  const digest = file.toString('latin1', 0, digestLength);
  const rest = file.subarray(digestLength + 1);
  if (digest !== (await digestOf([rest]))) return null;
  const end = rest.indexOf(newline);
  const header = JSON.parse(rest.toString('utf8', 0, end)) as Header;
  const { streamName, code, position, revokedClaims, ...stream } = header;
  if (streamName !== identity.streamName || code !== identity.code) return null;
  // A copy, because words have to begin at a multiple of four.
  const words = new Uint32Array(new Uint8Array(rest.subarray(end + 1)).buffer);
  return {
    stream: { ...stream, position: BigInt(position), revokedClaims: new Set(revokedClaims) },
    requests: IdempotencyTable.from(words),
  };
}

/** SHA-256 of buffers. Lets others have their turn in between, because the buffers may be large. */
async function digestOf(buffers: readonly Buffer[]): Promise<string> {
  const digest = createHash('sha256');
  for (const buffer of buffers) {
    for (let start = 0; start < buffer.length; start += chunkBytes) {
      digest.update(buffer.subarray(start, start + chunkBytes));
      if (buffer.length > chunkBytes) await nextTurn();
    }
  }
  return digest.digest('hex');
}
