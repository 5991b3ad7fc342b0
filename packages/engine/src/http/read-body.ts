import type { IncomingMessage } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Problem } from '@counterfoil/kernel';

/** The bytes of a request body, decoded. */
export interface BodyBytes {
  readonly bytes: Buffer;
  /** Gives the memory back. Nobody may look at the bytes from then on. */
  giveBack(): void;
}

/** Less is left to the collector: to give it back costs more than to find it. */
const leastBytes = 16 * 1024;

/**
 * Gives memory back that nobody else holds. Left to the collector it would lie about until 64 MiB of it stop the
 * thread for a search of the whole heap; and the next body finds this memory in place, where new memory is put in
 * place page by page.
 */
const giveBack = (memory: ArrayBufferLike): void => {
  if (memory instanceof ArrayBuffer && memory.byteLength >= leastBytes) memory.transfer(0);
};

const firstBytes = 64 * 1024;

/** Chunks, put one behind the other as they come: to join them at the end would be one long stop. */
class Gathering {
  #memory: Buffer | null = null;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Takes a chunk and its memory; `expected` is the number of bytes in all, if that is known. */
  add(chunk: Buffer, expected: number | null): void {
    const from = this.#length;
    this.#length += chunk.length;
    const isOwner = chunk.buffer.byteLength === chunk.length;
    if (isOwner && this.#memory === null && chunk.length === expected) {
      this.#memory = chunk;
      return;
    }
    chunk.copy(this.#room(from, expected), from);
    if (isOwner) giveBack(chunk.buffer);
  }

  /** Memory for all that there is, and what was there before in it. */
  #room(used: number, expected: number | null): Buffer {
    const memory = this.#memory;
    if (memory && memory.length >= this.#length) return memory;
    const bytes = Math.max(expected ?? firstBytes, this.#length, 2 * (memory?.length ?? 0));
    const made = Buffer.allocUnsafeSlow(bytes);
    memory?.copy(made, 0, 0, used);
    if (memory) giveBack(memory.buffer);
    this.#memory = made;
    return made;
  }

  body(): BodyBytes {
    const memory = this.#memory ?? Buffer.alloc(0);
    return {
      bytes: memory.subarray(0, this.#length),
      giveBack: () => giveBack(memory.buffer),
    };
  }

  giveBack(): void {
    if (this.#memory) giveBack(this.#memory.buffer);
  }
}

const decoders = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

const isDecoded = (encoding: string): encoding is keyof typeof decoders =>
  Object.hasOwn(decoders, encoding);

/** The number of bytes that the body of a request says it has; null when it does not. */
export function declaredBytes({ headers }: IncomingMessage): number | null {
  const length = headers['content-length'];
  const isPlain = (headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
  return length === undefined || !isPlain ? null : Number(length);
}

/** The stream of the decoded body. Throws a 415 `Problem` for an encoding that is not decoded. */
function decoded(request: IncomingMessage): Readable {
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return request;
  if (isDecoded(encoding)) return request.pipe(decoders[encoding]());
  throw new Problem(
    'unsupported_media_type',
    'The Content-Encoding must be gzip, deflate, br or none.',
  );
}

/**
 * The bytes of a body as they arrive, decoded, up to a limit. Throws the 400, 413 or 415 `Problem` when it is read that far.
 * What nobody reads is let pass, so that a client which is still sending hears the answer.
 *
 * @param onPiece is told of each piece, before it is handed on
 */
export async function* streamedBody(
  request: IncomingMessage,
  limit: number,
  onPiece: () => void,
): AsyncGenerator<Buffer> {
  if ((declaredBytes(request) ?? 0) > limit) throw tooLarge(limit);
  const stream = decoded(request);
  // A pipe does not say that its source has broken off.
  if (stream !== request) request.once('aborted', () => stream.destroy(endedEarly()));
  let bytes = 0;
  try {
    for await (const piece of stream.iterator({ destroyOnReturn: false })) {
      bytes += (piece as Buffer).length;
      if (bytes > limit) throw tooLarge(limit);
      onPiece();
      yield piece as Buffer;
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw stream === request || !request.complete ? endedEarly() : undecodable();
  } finally {
    request.unpipe();
    request.resume();
  }
}

/** The refusal of a body that is larger than so many bytes. */
export const tooLarge = (limit: number): Problem =>
  new Problem(
    'payload_too_large',
    `The request body must have at most ${limit} bytes. Send less at a time.`,
    { details: { limit_bytes: limit } },
  );
const endedEarly = (): Problem =>
  new Problem('validation_error', 'The request body ended too early.');
const undecodable = (): Problem =>
  new Problem('validation_error', 'The request cannot be decoded. Check its encoding.');

/**
 * Reads the body of a request, decoded, up to a limit in bytes. A body that is refused is read to its end all the
 * same, because a client that is still sending does not hear the answer.
 *
 * @param done takes the body, or the 400, 413 or 415 `Problem`
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  done: (outcome: BodyBytes | Problem) => void,
): void {
  const gathering = new Gathering();
  const expected = declaredBytes(request);
  let isOver = false;

  const refuse = (problem: Problem): void => {
    if (isOver) return;
    isOver = true;
    gathering.giveBack();
    request.unpipe();
    request.resume();
    finished(request, { writable: false }, () => done(problem));
  };

  if (expected !== null && expected > limit) {
    refuse(tooLarge(limit));
    return;
  }
  let stream: Readable;
  try {
    stream = decoded(request);
  } catch (error) {
    refuse(error as Problem);
    return;
  }
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return;
    if (gathering.length + chunk.length > limit) {
      if (stream !== request) stream.destroy();
      refuse(tooLarge(limit));
      return;
    }
    gathering.add(chunk, expected);
  });
  stream.once('end', () => {
    if (isOver) return;
    isOver = true;
    // What stands behind the end of compressed bytes is of no use to anybody.
    if (stream !== request) request.unpipe().resume();
    done(gathering.body());
  });
  request.once('aborted', () => refuse(endedEarly()));
  stream.on('error', () => refuse(stream === request ? endedEarly() : undecodable()));
}
