import { arrayText, type FillSession } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { monthTextOf } from '../month.ts';

/** A usage event that is counted and stands in no partition, with the numbers of its name and environment. */
export interface UnkeptUsage {
  readonly environment: number;
  readonly name: number;
  readonly at: Instant;
}

/** The fate of the events of a month: `left` is what tables that are filled for other months have nothing of. */
export type MonthFate = 'kept' | 'dropped' | 'left';

/** The months whose events are kept one by one, in the session that fills the tables. */
export class KeptMonths {
  readonly #session: FillSession;
  readonly #only: ReadonlySet<string> | null;
  #dropped: ReadonlySet<string> | null = null;

  /** @param only months that alone are filled; null for all */
  constructor(session: FillSession, only: ReadonlySet<string> | null) {
    this.#session = session;
    this.#only = only;
  }

  forget(): void {
    this.#dropped = null;
  }

  /** Reads what is dropped, unless it is known. */
  async load(): Promise<void> {
    if (this.#dropped) return;
    const { query, schema } = this.#session;
    const { rows } = await query<{ month: string }>(`select month from ${schema}.dropped_month`);
    this.#dropped = new Set(rows.map(({ month }) => month));
  }

  /** Once it is loaded. */
  fateOf(at: string): MonthFate {
    const month = monthTextOf(at);
    if (this.#only && !this.#only.has(month)) return 'left';
    return this.#dropped?.has(month) ? 'dropped' : 'kept';
  }

  /** Notes events of dropped months that have come, and are counted. */
  async note(events: readonly UnkeptUsage[]): Promise<void> {
    if (events.length === 0) return;
    const { query, schema } = this.#session;
    await query(
      `insert into ${schema}.dropped_usage as known (environment, name, month, events, first_at, last_at)
       select environment, name, month, count(*), min(at), max(at)
         from unnest($1::int[], $2::int[], $3::text[], $4::timestamptz[]) as come (environment, name, month, at)
        group by environment, name, month
           on conflict (environment, name, month) do update
              set events = known.events + excluded.events,
                  first_at = least(known.first_at, excluded.first_at),
                  last_at = greatest(known.last_at, excluded.last_at)`,
      [
        arrayText(events.map(({ environment }) => environment)),
        arrayText(events.map(({ name }) => name)),
        arrayText(events.map(({ at }) => monthTextOf(at))),
        arrayText(events.map(({ at }) => at)),
      ],
    );
  }
}
