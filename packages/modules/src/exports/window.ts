import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExportRun } from '../scheduled-tasks/index.ts';

/** The window of a run, as statements take it. */
export type ExportWindow = Pick<ExportRun, 'start' | 'end' | 'position' | 'previous'>;

/** The columns by which a row belongs to a window. */
interface Placed {
  /** The instant at which it was recorded, or changed for the last time. */
  readonly recorded: RawBuilder<unknown>;
  readonly position: RawBuilder<unknown>;
}

/** The rows that were recorded before an instant, and are in the log up to a place. */
export const before = ({ recorded, position }: Placed, end: string, upTo: string) =>
  sql<SqlBool>`(${recorded} < ${end}::timestamptz and ${position} <= ${upTo}::bigint)`;

/**
 * The rows of a window by the instant of recording: those before its bound, less those before the bound of the window
 * before it. So windows that follow each other have each row once (ADR 51).
 */
export function recordedIn(placed: Placed, { start, end, position, previous }: ExportWindow) {
  const { recorded } = placed;
  const own = before(placed, end, position);
  if (previous === null) return sql<SqlBool>`(${own} and ${recorded} >= ${start}::timestamptz)`;
  // Said twice, so that an index finds the rows: those of the window's time, and those that came behind it.
  return sql<SqlBool>`(${own} and not ${before(placed, previous.end, previous.position)}
    and (${recorded} >= ${previous.end}::timestamptz or ${placed.position} > ${previous.position}::bigint))`;
}

/** The rows of a window by the instant from which they count, as far as they are in the log. */
export const effectiveIn = (
  effective: RawBuilder<unknown>,
  position: RawBuilder<unknown>,
  { start, end, position: upTo }: ExportWindow,
) =>
  sql<SqlBool>`(${effective} >= ${start}::timestamptz and ${effective} < ${end}::timestamptz
    and ${position} <= ${upTo}::bigint)`;

/** The rows that count before a window, and came into the log after the window before it was closed. */
export const lateFor = (
  effective: RawBuilder<unknown>,
  position: RawBuilder<unknown>,
  { start, position: upTo, previous }: ExportWindow,
) =>
  sql<SqlBool>`(${effective} < ${start}::timestamptz and ${position} > ${previous?.position ?? upTo}::bigint
    and ${position} <= ${upTo}::bigint)`;
