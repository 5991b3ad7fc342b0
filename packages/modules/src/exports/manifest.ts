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

/** The key of the file of a window, which sorts by time; of a later generation with its number (E 23.2; D80). */
export function keyOf(
  {
    entity_type,
    start,
    end,
    job_config,
  }: Pick<ExportRun, 'entity_type' | 'start' | 'end' | 'job_config'>,
  generation: number,
): string {
  const { key_prefix, format, compression } = job_config;
  // An underline sorts behind the dot of the first generation.
  const number = generation === 1 ? '' : `_g${String(generation).padStart(4, '0')}`;
  const name = `${entity_type}-${stampOf(start)}-${stampOf(end)}${number}.${fileKinds[format].ending}`;
  const folders = [...(key_prefix === '' ? [] : [key_prefix]), entity_type].join('/');
  return `${folders}/${name}${compression === 'gzip' ? '.gz' : ''}`;
}

/** The key of the manifest of a file (D80). */
export const manifestKeyOf = (key: string): string => `${key}.manifest.json`;

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
