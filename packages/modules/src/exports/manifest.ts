import { type DecimalText, decimal, textOf, zero } from '@counterfoil/kernel';
import { z } from 'zod';
import type { ExportRun } from '../scheduled-tasks/index.ts';
import { fileKinds } from './formats/format.ts';
import type { ExportRow, SummedColumn } from './rows.ts';

/** The sums of columns: by the name of a column, then by currency (D80). */
export type Sums = Readonly<Record<string, Readonly<Record<string, DecimalText>>>>;

const manifestSchema = z.object({
  entity_type: z.string(),
  format: z.string(),
  compression: z.string(),
  window_by: z.string(),
  generation: z.number(),
  /** The key of the file that stands for the same window before this one; null for the first. */
  supersedes: z.string().nullable(),
  files: z.array(
    z.object({ key: z.string(), rows: z.number(), bytes: z.number(), sha256: z.string() }),
  ),
  start_time: z.string(),
  end_time: z.string(),
  rows: z.number(),
  sums: z.record(z.string(), z.record(z.string(), z.string())),
  late_rows: z.number().nullable(),
  /** Of all that is in the file before it is compressed: equal where the rows are. */
  content_sha256: z.string(),
  from_position: z.string().nullable(),
  to_position: z.string(),
  columns: z.array(z.object({ name: z.string(), kind: z.string() })),
  run_id: z.string(),
  scheduled_task_id: z.string(),
});

/** Everything that is told about the file of a window. */
export type Manifest = z.output<typeof manifestSchema>;

/** The manifest that a text holds. Throws where it is none. */
export const manifestIn = (text: string): Manifest => manifestSchema.parse(JSON.parse(text));

export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify(manifest, null, 2)}\n`;

/** An instant as names of files have it: `260131235959` (E 23.2). Milliseconds are added where there are some. */
const stampOf = (instant: string): string => {
  const digits = instant.replace(/\D/g, '');
  return digits.slice(14) === '000' ? digits.slice(2, 14) : digits.slice(2);
};

/** The parts of a run that name the objects of its window. */
type NamedWindow = Pick<ExportRun, 'entity_type' | 'start' | 'end' | 'job_config'>;

/** An attempt at a run. No two of them have the same number. */
export type NamedAttempt = NamedWindow & Pick<ExportRun, 'id' | 'attempts'>;

/** The beginning of the keys of all that belongs to a window, which sorts by time (E 23.2). */
export function windowKeyOf({ entity_type, start, end, job_config }: NamedWindow): string {
  const { key_prefix } = job_config;
  const folders = [...(key_prefix === '' ? [] : [key_prefix]), entity_type].join('/');
  return `${folders}/${entity_type}-${stampOf(start)}-${stampOf(end)}`;
}

/** A later generation has its number in the name: an underline sorts behind the dash and the dot of the first (D80). */
const numberOf = (generation: number): string =>
  generation === 1 ? '' : `_g${String(generation).padStart(4, '0')}`;

const endingOf = ({ job_config: { format, compression } }: NamedWindow): string =>
  `.${fileKinds[format].ending}${compression === 'gzip' ? '.gz' : ''}`;

/** The run in the keys of its files. */
const tokenOf = ({ id }: Pick<ExportRun, 'id'>): string => id.slice(id.indexOf('_') + 1);

/**
 * The key of the file that an attempt writes. No other attempt writes there, so that one which goes on although another
 * has taken its place changes nothing that a manifest names (ADR 55).
 */
export const fileKeyOf = (run: NamedAttempt, generation: number): string =>
  `${windowKeyOf(run)}${numberOf(generation)}-${tokenOf(run)}-${run.attempts}${endingOf(run)}`;

/** True for the key of a file that an earlier attempt at the same run was to write. */
export function isOfEarlierAttempt(run: NamedAttempt, key: string): boolean {
  const [, token, attempt] = /-(\w+)-(\d+)\.[a-z.]+$/.exec(key) ?? [];
  return (
    key.startsWith(windowKeyOf(run)) && token === tokenOf(run) && +(attempt ?? 0) < run.attempts
  );
}

/** The key of the manifest of a generation: it follows from the window alone, and whoever is first has it (D80). */
export const manifestKeyOf = (run: NamedWindow, generation: number): string =>
  `${windowKeyOf(run)}${numberOf(generation)}${endingOf(run)}.manifest.json`;

/** Adds figures up, exactly, by column and currency. */
export class Summing {
  readonly #columns: readonly SummedColumn[];
  readonly #sums = new Map<string, Map<string, ReturnType<typeof decimal>>>();

  constructor(columns: readonly SummedColumn[]) {
    this.#columns = columns;
  }

  add(rows: readonly ExportRow[]): void {
    for (const { name, place, currency } of this.#columns) {
      const byCurrency = this.#sums.get(name) ?? new Map();
      this.#sums.set(name, byCurrency);
      for (const row of rows) {
        const figure = row[place] ?? null;
        if (figure === null) continue;
        const unit = String(row[currency] ?? '');
        const before = byCurrency.get(unit) ?? zero;
        byCurrency.set(unit, before.plus(decimal(String(figure))));
      }
    }
  }

  sums(): Sums {
    return Object.fromEntries(
      [...this.#sums].map(([name, byCurrency]) => [
        name,
        Object.fromEntries([...byCurrency].map(([unit, sum]) => [unit, textOf(sum)])),
      ]),
    );
  }
}
