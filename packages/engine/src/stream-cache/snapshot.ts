import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { StreamState } from './stream-state.ts';

/** A stream folded up to an event, and the words of the index of its requests until then. */
export interface Snapshot<State = unknown> {
  readonly stream: StreamState<State>;
  readonly words: Uint32Array;
}

/** The stream of a snapshot, and the code that folded it. */
export interface SnapshotIdentity {
  readonly streamName: string;
  /** Fingerprint of all code that folds: another code may fold the same events to another state. */
  readonly code: string;
}

type Written<State = unknown> = Omit<StreamState<State>, 'position' | 'revokedClaims'> & {
  readonly position: string;
  readonly revokedClaims: readonly string[];
};

/** Bytes in which the first two lines of a file lie. */
export const beginningBytes = 1_024;
const newline = 0x0a;
const chunkBytes = 1 << 20;

/**
 * The file of a snapshot: a line each for a digest of all that follows, for the identity with the
 * revision and for the stream, then the words. The snapshot is copied before this returns, so the stream
 * may go on meanwhile. Null when the state would not come back from JSON exactly as it is, in which case
 * there is no snapshot of it.
 */
export async function snapshotFile(
  identity: SnapshotIdentity,
  { stream, words }: Snapshot,
): Promise<readonly Buffer[] | null> {
  const { position, revokedClaims } = stream;
  const written: Written = {
    ...stream,
    position: String(position),
    revokedClaims: [...revokedClaims],
  };
  const text = JSON.stringify(written);
  if (!isDeepStrictEqual((JSON.parse(text) as Written).state, stream.state)) return null;
  const identityText = JSON.stringify({ ...identity, revision: stream.head.revision });
  const lines = Buffer.from(`${identityText}\n${text}\n`);
  const copy = Buffer.from(Buffer.from(words.buffer, words.byteOffset, words.byteLength));
  return [Buffer.from(`${await digestOf([lines, copy])}\n`), lines, copy];
}

/**
 * The snapshot in a file; null for one of another stream or of other code. Throws on a file that is
 * damaged or cut off. Whether the log still has the event that it ends with is for the caller to find out.
 */
export async function readSnapshot<State>(
  file: Buffer,
  { streamName, code }: SnapshotIdentity,
): Promise<Snapshot<State> | null> {
  const digest = lineAt(file, 0);
  if (digest.text !== (await digestOf([file.subarray(digest.next)]))) throw damaged();
  const identity = lineAt(file, digest.next);
  const of = JSON.parse(identity.text) as SnapshotIdentity;
  if (of.streamName !== streamName || of.code !== code) return null;
  const written = lineAt(file, identity.next);
  const { position, revokedClaims, ...stream } = JSON.parse(written.text) as Written<State>;
  return {
    stream: { ...stream, position: BigInt(position), revokedClaims: new Set(revokedClaims) },
    // A copy, because words have to begin at a multiple of four.
    words: new Uint32Array(new Uint8Array(file.subarray(written.next)).buffer),
  };
}

/**
 * The revision of the snapshot that a file begins with; -1 for one of other code and for a file
 * that is no snapshot.
 */
export function revisionIn(beginning: Buffer, { code }: SnapshotIdentity): number {
  try {
    const { text } = lineAt(beginning, lineAt(beginning, 0).next);
    const found = JSON.parse(text) as SnapshotIdentity & { readonly revision: number };
    return found.code === code ? found.revision : -1;
  } catch {
    return -1;
  }
}

const damaged = (): Error => new Error('the snapshot is damaged');

/** The line that begins at a place, and the place of the next one. Throws when it has no end. */
function lineAt(file: Buffer, start: number): { readonly text: string; readonly next: number } {
  const end = file.indexOf(newline, start);
  if (end < 0) throw damaged();
  return { text: file.toString('utf8', start, end), next: end + 1 };
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
