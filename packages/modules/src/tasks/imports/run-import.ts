import { FilesFull } from '@counterfoil/engine/define';
import { importLimits } from '../limits.ts';
import { badRowsOf, uploadOf } from '../task/files.ts';
import { type ImportTask, rowsDone } from '../task/task.ts';
import { digestOf } from '../task/upload.ts';
import type { FileRow } from './file-row.ts';
import { importKinds } from './kinds.ts';
import { carryOutPortion, NoRight } from './portion.ts';
import type { ImportPorts } from './ports.ts';
import { fileRows } from './rows.ts';

/** The end of a run: the whole file, a reason why it cannot go on, or nothing of either. */
export type ImportEnd =
  | { readonly kind: 'completed'; readonly rows: number }
  | { readonly kind: 'failed'; readonly summary: string }
  /** Somebody else goes on, or this process is to stop. */
  | { readonly kind: 'stopped' };

/** The bytes of a file that were read, as far as rows were made of them. */
interface ReadSoFar {
  bytes: number;
}

/**
 * Carries out the rows of an import that are not done yet, some at a time, and notes after each portion how far it is. Run
 * again after a kill, it goes on behind the last note; what was carried out since then has its keys, and no second effect.
 */
export async function runImport(task: ImportTask, ports: ImportPorts): Promise<ImportEnd> {
  const { files, mark } = ports;
  const upload = uploadOf(task.environment_id, task.id);
  if (!task.file || (await digestOf(files, upload)) !== task.file.sha256) {
    const summary = 'The file is no longer there. Send it again, and have the task go on.';
    return { kind: 'failed', summary };
  }
  const bad = badRowsOf(task.environment_id, task.id);
  const run = new Run(task, ports, await files.begin(bad, mark, task.bad_bytes));
  try {
    return await run.through(files.read(upload));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TooManyBadRows) {
      return { kind: 'failed', summary: error.message };
    }
    if (error instanceof NoRight) return { kind: 'failed', summary: error.message };
    if (error instanceof FilesFull) {
      const summary = `${error.message} There is no room for bad rows: remove files of other imports, and have the task go on.`;
      return { kind: 'failed', summary };
    }
    throw error;
  }
}

class TooManyBadRows extends Error {
  constructor() {
    super('Too many rows are bad. Look at them, and import a better file in another task.');
  }
}

class Run {
  readonly #task: ImportTask;
  readonly #ports: ImportPorts;
  readonly #size: number;
  #badBytes: number;
  /** Rows that were done before, and since. */
  #done: number;

  constructor(task: ImportTask, ports: ImportPorts, badBytes: number) {
    this.#task = task;
    this.#ports = ports;
    this.#badBytes = badBytes;
    this.#done = rowsDone(task);
    this.#size = task.entity_type === 'EVENTS' ? importLimits.eventPortion : importLimits.portion;
  }

  /** Goes through a file, whose first rows are done. */
  async through(pieces: AsyncIterable<Uint8Array>): Promise<ImportEnd> {
    const { entity_type, file_type } = this.#task;
    const soFar: ReadSoFar = { bytes: 0 };
    const texts = decoded(pieces, soFar);
    const skipped = this.#done;
    let seen = 0;
    let waiting: FileRow[] = [];
    try {
      for await (const rows of fileRows(texts, file_type, importKinds[entity_type].fields)) {
        for (const row of rows) {
          seen += 1;
          if (seen <= skipped) continue;
          waiting.push(row);
          if (waiting.length < this.#size) continue;
          if (!(await this.#carryOut(waiting, soFar))) return { kind: 'stopped' };
          waiting = [];
        }
        if (this.#ports.signal.aborted) return { kind: 'stopped' };
        await othersFirst();
      }
    } catch (error) {
      // What stands before the place where a file breaks off is carried out.
      if (error instanceof SyntaxError && waiting.length > 0) await this.#carryOut(waiting, soFar);
      throw error;
    }
    if (waiting.length > 0 && !(await this.#carryOut(waiting, soFar))) return { kind: 'stopped' };
    return { kind: 'completed', rows: this.#done };
  }

  /** Carries out some rows and notes it. False where this run is over. */
  async #carryOut(rows: readonly FileRow[], { bytes: read_bytes }: ReadSoFar): Promise<boolean> {
    const { files, mark, note, signal } = this.#ports;
    if (signal.aborted) return false;
    const refused = await carryOutPortion(this.#task, rows, this.#done, this.#ports);
    if (refused === null) return false;
    if (refused.length > 0) {
      const piece = Buffer.from(refused.map((each) => `${JSON.stringify(each)}\n`).join(''));
      if (this.#badBytes + piece.length > importLimits.badBytes) throw new TooManyBadRows();
      const file = badRowsOf(this.#task.environment_id, this.#task.id);
      // Before the note that counts them: a run that goes on behind the note before makes them again.
      if (!(await files.add(file, mark, this.#badBytes, piece))) return false;
      this.#badBytes += piece.length;
    }
    const progress = {
      from_row: this.#done,
      line: rows.at(-1)?.line ?? 0,
      successful: rows.length - refused.length,
      failed: refused.length,
      read_bytes,
      bad_bytes: this.#badBytes,
    };
    this.#done += rows.length;
    return note(progress);
  }
}

/** Lets whatever waits for the thread have it. */
const othersFirst = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The text of a file in UTF-8. Throws a `SyntaxError` where it is none. */
async function* decoded(
  pieces: AsyncIterable<Uint8Array>,
  soFar: ReadSoFar,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const text = (piece?: Uint8Array): string => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    } catch {
      throw new SyntaxError(`The file is not in UTF-8, behind byte ${soFar.bytes}.`);
    }
  };
  for await (const piece of pieces) {
    const part = text(piece);
    soFar.bytes += piece.length;
    yield part;
  }
  const last = text();
  if (last !== '') yield last;
}
