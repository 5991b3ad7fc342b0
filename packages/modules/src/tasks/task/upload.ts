import { createHash } from 'node:crypto';
import {
  type BodyStream,
  type FileName,
  type FileStore,
  FilesFull,
  type RequestContext,
} from '@counterfoil/engine/define';
import { invalidField, invalidOperation, Problem } from '@counterfoil/kernel';
import { importLimits } from '../limits.ts';
import {
  receiveFile,
  refuseUnlessAwaitingFile,
  refuseWhileRunnable,
  requireTask,
} from './decisions.ts';
import { badRowsOf, uploadOf } from './files.ts';
import { importTask } from './task.ts';

/** A part of a file as a request sends it. */
interface Part {
  readonly stream: BodyStream | undefined;
  /** Bytes of the file before it. */
  readonly offset: number;
  /** True for the last part. */
  readonly complete: boolean;
}

const overtaken = (): Problem =>
  new Problem(
    'version_conflict',
    'Another request is sending the file of this task. Ask how many bytes are there, and go on from them.',
  );

const tooLarge = (): Problem =>
  new Problem(
    'payload_too_large',
    `A file may have ${importLimits.fileBytes} bytes at most. Import it in several tasks.`,
    { details: { limit_bytes: importLimits.fileBytes } },
  );

/** The refusal of a piece for which there is no room; any other failure as it is. */
const withoutRoom = (error: unknown): unknown =>
  error instanceof FilesFull
    ? invalidOperation(
        `${error.message} Have failed imports go on, or remove their files: DELETE /tasks/{id}/file.`,
        { reason: 'limit_reached', limit_bytes: error.limitBytes },
      )
    : error;

/**
 * Takes a part of the file of an import, and with the last one the file. A part begins where the one before has ended, or where
 * a part has begun that it replaces, with all behind it. Throws 400 where it begins elsewhere, 409 where another request sends
 * the file too.
 */
export async function takePart(
  context: RequestContext,
  files: FileStore,
  id: string,
  { stream, offset, complete }: Part,
) {
  refuseUnlessAwaitingFile(requireTask(await context.load(importTask, id), id));
  const file = uploadOf(context.principal.environmentId, id);
  const there = (await files.stateOf(file))?.bytes ?? 0;
  if (offset > there)
    throw invalidField('/offset', `must be at most ${there}: so many bytes are there`);
  const received = stream
    ? await addedTo(files, file, offset, context.newId('req'), stream)
    : there;
  if (!complete) return { task_id: id, received_bytes: received, complete };
  if (received === 0) throw invalidField('', 'the file is empty');
  const sha256 = await digestOf(files, file);
  await context.execute(importTask, id, receiveFile({ bytes: received, sha256 }));
  return { task_id: id, received_bytes: received, complete };
}

/** Begins a file behind some bytes of it. Throws 400 where no part of it begins or ends there. */
async function begunAt(
  files: FileStore,
  file: FileName,
  mark: string,
  offset: number,
): Promise<number> {
  const bytes = await files.begin(file, mark, offset).catch((error: unknown) => {
    if (!(error instanceof RangeError)) throw error;
    throw invalidField('/offset', 'must be where a part of the file has begun or ended');
  });
  if (bytes !== offset) throw overtaken();
  return bytes;
}

/** Adds the bytes of a stream to a file, and gives the bytes that it has then. */
async function addedTo(
  files: FileStore,
  file: FileName,
  offset: number,
  mark: string,
  stream: BodyStream,
): Promise<number> {
  let bytes = await begunAt(files, file, mark, offset);
  for await (const piece of inPieces(stream)) {
    if (bytes + piece.length > importLimits.fileBytes) throw tooLarge();
    const added = await files.add(file, mark, bytes, piece).catch((error: unknown) => {
      throw withoutRoom(error);
    });
    if (!added) throw overtaken();
    bytes += piece.length;
  }
  return bytes;
}

/**
 * Removes what is kept of an import that nobody works on: its file, and of one that is completed the rows that were refused. Throws 404, and
 * 400 for one that may run.
 */
export async function removeFiles(
  context: RequestContext,
  files: FileStore,
  id: string,
): Promise<void> {
  const task = requireTask(await context.load(importTask, id), id);
  refuseWhileRunnable(task);
  const { environmentId } = context.principal;
  await files.remove(uploadOf(environmentId, id));
  if (task.task_status === 'COMPLETED') await files.remove(badRowsOf(environmentId, id));
}

/** Keeps the whole of a stream as a file. Throws 413 where it is too large, 409 where others keep it too. */
export async function keepFile(
  files: FileStore,
  file: FileName,
  mark: string,
  stream: BodyStream,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const bytes = await addedTo(files, file, 0, mark, stream);
  return { bytes, sha256: await digestOf(files, file) };
}

/** The bytes in pieces of the size in which they are kept. */
async function* inPieces(stream: BodyStream): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < importLimits.pieceBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** The SHA-256 of a file, in hexadecimal. */
export async function digestOf(files: FileStore, file: FileName): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of files.read(file)) digest.update(piece);
  return digest.digest('hex');
}
