import { createHash, type Hash } from 'node:crypto';
import { pipeline, Readable, Transform } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { ExportRun, ExportRunEventData } from '../scheduled-tasks/index.ts';
import { type Destination, StorageFailed } from './destinations/destination.ts';
import { fileKinds, formatOf } from './formats/format.ts';
import {
  fileKeyOf,
  isOfEarlierAttempt,
  type Manifest,
  manifestIn,
  manifestKeyOf,
  manifestText,
  Summing,
  windowKeyOf,
} from './manifest.ts';
import type { ExportColumn, ExportRow, SummedColumn } from './rows.ts';

/** The rows of a run, ready to be written. */
export interface RunRows {
  readonly run: ExportRun;
  readonly columns: readonly ExportColumn[];
  readonly summed: readonly SummedColumn[];
  readonly rows: AsyncIterable<readonly ExportRow[]>;
  /** Counts rows that came late, after all others were read. */
  readonly late: () => Promise<number | null>;
  /** Told how many rows were written so far. */
  readonly onRows: (rows: number) => void;
  /** False once another attempt at the run was begun, or the run has ended. */
  readonly isCurrent: () => Promise<boolean>;
  /** Told where what earlier attempts have left could not be taken away. It harms nobody, so the attempt goes on. */
  readonly onLeft: (error: unknown) => void;
  readonly signal: AbortSignal;
}

export type Completed = ExportRunEventData<'ExportRunCompleted'>;

/** Another attempt has taken the place of this one: what it wrote is nobody's. */
export class AttemptOvertaken extends Error {
  override readonly name = 'AttemptOvertaken';
}

/** Generations of one window: a run that finds so many has a fault, and not another change. */
const generationsMaximum = 1_000;

/** The rows are those of the file that is there: nothing is to be written. */
class SameRows extends Error {
  override readonly name = 'SameRows';
}

/**
 * Writes the file of a run, and then its manifest, which makes it one (ADR 51). Rows are sent on as they come, and no more
 * than a few portions are in memory. Where the window has a file with the same rows, nothing is written; where it has
 * one with others, the next generation stands beside it.
 *
 * Two attempts at a run may be under way, when one goes on that was given up for lost. Each writes a file of its own, and the
 * manifest is made once, by whoever is first (ADR 55).
 *
 * @throws {AttemptOvertaken} when another attempt was begun meanwhile
 */
export async function writeExport(destination: Destination, rows: RunRows): Promise<Completed> {
  const { run } = rows;
  if (run.attempts > 1) {
    await destination
      .removeUnfinished(windowKeyOf(run), (key) => isOfEarlierAttempt(run, key))
      .catch(rows.onLeft);
  }
  for (;;) {
    const completed = await writeGeneration(destination, rows);
    if (completed) return completed;
  }
}

/** Writes the next generation of the window of a run. Null where another attempt has made one with other rows meanwhile. */
async function writeGeneration(destination: Destination, rows: RunRows): Promise<Completed | null> {
  const { run } = rows;
  const latest = await latestManifest(destination, run);
  const generation = (latest?.generation ?? 0) + 1;
  const key = fileKeyOf(run, generation);
  const writing = new Writing(rows, latest?.content_sha256 ?? null);
  const { mediaType } = fileKinds[run.job_config.format];
  const isCompressed = run.job_config.compression === 'gzip';
  try {
    await destination.write(
      key,
      writing.body(isCompressed),
      isCompressed ? 'application/gzip' : mediaType,
    );
  } catch (error) {
    if (latest && writing.isSame) return completedBy(run, latest, false);
    throw error;
  }
  const manifest = await writing.manifest(key, generation, latest);
  if (!(await rows.isCurrent())) throw new AttemptOvertaken();
  const manifestKey = manifestKeyOf(run, generation);
  if (await destination.create(manifestKey, manifestText(manifest))) {
    return completedBy(run, manifest, true);
  }
  // Another attempt was faster, or this one was and the answer was lost on its way.
  const made = await manifestAt(destination, manifestKey);
  if (!made) throw new StorageFailed('The storage refuses a manifest that it has not.', false);
  const isSame = made.content_sha256 === manifest.content_sha256;
  return isSame ? completedBy(run, made, made.files[0]?.key === key) : null;
}

const completedBy = (run: ExportRun, manifest: Manifest, is_new: boolean): Completed => ({
  files: manifest.files,
  manifest_key: manifestKeyOf(run, manifest.generation),
  generation: manifest.generation,
  is_new,
  rows: manifest.rows,
  late_rows: manifest.late_rows,
});

async function manifestAt(destination: Destination, key: string): Promise<Manifest | null> {
  const text = await destination.read(key);
  if (text === null) return null;
  try {
    return manifestIn(text);
  } catch (error) {
    throw new StorageFailed(`The object ${key} is no manifest of an export.`, true, error);
  }
}

/** The manifest of the last generation of a window; null where there is none yet. */
async function latestManifest(destination: Destination, run: ExportRun): Promise<Manifest | null> {
  let latest: Manifest | null = null;
  for (let generation = 1; generation <= generationsMaximum; generation += 1) {
    const found = await manifestAt(destination, manifestKeyOf(run, generation));
    if (!found) return latest;
    latest = found;
  }
  throw new Error(`The window of ${run.id} has more than ${generationsMaximum} generations.`);
}

/** A file while it is written. */
class Writing {
  readonly #rows: RunRows;
  /** The hash of the rows that are there; null where there are none. */
  readonly #known: string | null;
  readonly #content = createHash('sha256');
  readonly #stored = createHash('sha256');
  readonly #sums: Summing;
  #count = 0;
  #bytes = 0;
  #contentHash = '';
  isSame = false;

  constructor(rows: RunRows, known: string | null) {
    this.#rows = rows;
    this.#known = known;
    this.#sums = new Summing(rows.summed);
  }

  /** The bytes of the file, as they are stored. */
  body(isCompressed: boolean): Readable {
    const plain = Readable.from(this.#plain(), { objectMode: false });
    const count = counting(this.#stored, (bytes) => {
      this.#bytes += bytes;
    });
    return isCompressed ? joined(plain, createGzip(), count) : joined(plain, count);
  }

  async *#plain(): AsyncGenerator<Uint8Array> {
    const { run, columns, rows, onRows, signal } = this.#rows;
    const format = formatOf(run.job_config.format, columns);
    const hashed = (bytes: Uint8Array): Uint8Array => {
      this.#content.update(bytes);
      return bytes;
    };
    yield hashed(format.start());
    for await (const portion of rows) {
      signal.throwIfAborted();
      this.#count += portion.length;
      this.#sums.add(portion);
      const bytes = hashed(format.rows(portion));
      if (bytes.length > 0) yield bytes;
      onRows(this.#count);
    }
    yield hashed(format.end());
    this.#contentHash = this.#content.digest('hex');
    this.isSame = this.#contentHash === this.#known;
    // Ends the upload before it is complete, so that nothing of it is left.
    if (this.isSame) throw new SameRows();
  }

  async manifest(key: string, generation: number, latest: Manifest | null): Promise<Manifest> {
    const { run, columns } = this.#rows;
    const { format, compression, window_by } = run.job_config;
    const sha256 = this.#stored.digest('hex');
    return {
      entity_type: run.entity_type,
      ...{ format, compression, window_by, generation },
      supersedes: latest?.files[0]?.key ?? null,
      files: [{ key, rows: this.#count, bytes: this.#bytes, sha256 }],
      start_time: run.start,
      end_time: run.end,
      rows: this.#count,
      sums: this.#sums.sums(),
      late_rows: await this.#rows.late(),
      content_sha256: this.#contentHash,
      from_position: run.previous?.position ?? null,
      to_position: run.position,
      columns: columns.map(({ name, kind }) => ({ name, kind })),
      run_id: run.id,
      scheduled_task_id: run.scheduled_task_id,
    };
  }
}

function counting(hash: Hash, onBytes: (bytes: number) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
}

/** Streams one after the other, of which the last is read; where one fails all of them do. */
const joined = (...streams: readonly [Readable, ...Transform[]]): Readable =>
  // Whoever reads the last of them is told of the failure.
  pipeline(streams, () => undefined) as unknown as Readable;
