import { arrayText, type FillSession } from '@counterfoil/engine/define';
import { type ChangedUsage, markedAgain, type UsageWatcher } from '../watcher.ts';
import type { UsageWatchEvent } from './usage-watch.ts';

/** The table of watches, with marks on those whose usage may have changed. */
export const watchedUsage = 'watched_usage';

/** The statements that make it. It is for the service itself: callers do not see it. */
export const createWatchedUsageTable = (schema: string): readonly string[] => [
  `create table ${schema}.${watchedUsage} (
     id text collate "C" primary key,
     tenant_id text collate "C" not null,
     environment_id text collate "C" not null,
     customer_id text collate "C" not null,
     marked_at timestamptz,
     causes bigint not null)`,
  `create index on ${schema}.${watchedUsage} (customer_id)`,
  `create index on ${schema}.${watchedUsage} (marked_at) where marked_at is not null`,
];

/** Its contents but for the marks, which come and go. */
export const comparedWatchedUsage = (schema: string): string =>
  `select id, tenant_id, environment_id, customer_id from ${schema}.${watchedUsage}`;

/** An event of a watch, and whose it is. */
interface WatchChange {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly id: string;
  readonly event: UsageWatchEvent;
}

/**
 * The watches of all customers, as the log says, in the session that fills the tables. Where there are none, usage costs nothing; where
 * there are some, one statement for a batch.
 */
export class WatchedUsage implements UsageWatcher {
  readonly #session: FillSession;
  /** True where there is any; null before that is known. */
  #hasAny: boolean | null = null;

  constructor(session: FillSession) {
    this.#session = session;
  }

  forget(): void {
    this.#hasAny = null;
  }

  /** Follows the life of a watch. One that begins is looked at once: usage may be there already. */
  async follow({ tenantId, environmentId, id, event }: WatchChange): Promise<void> {
    const { query, schema } = this.#session;
    if (event.type === 'UsageUnwatched') {
      await query(`delete from ${schema}.${watchedUsage} where id = $1`, [id]);
      return this.forget();
    }
    await query(
      `insert into ${schema}.${watchedUsage} as own values ($1, $2, $3, $4, now(), 1)
           on conflict (id) do update
          set customer_id = excluded.customer_id, marked_at = now(), causes = own.causes + 1`,
      [id, tenantId, environmentId, event.data.customer_id],
    );
    this.#hasAny = true;
  }

  async touch({ accounts }: ChangedUsage): Promise<void> {
    if (accounts.size === 0 || !(await this.#isNeeded())) return;
    await this.#mark(
      `customer_id in (select customer_id from ${this.#session.schema}.account
                        where number = any($1::bigint[]))`,
      [...accounts],
    );
  }

  async customersChanged(customerIds: readonly string[]): Promise<void> {
    if (await this.#isNeeded()) await this.#mark('customer_id = any($1::text[])', customerIds);
  }

  async #mark(condition: string, values: readonly string[]): Promise<void> {
    const { query, schema } = this.#session;
    await query(`update ${schema}.${watchedUsage} set ${markedAgain} where ${condition}`, [
      arrayText(values),
    ]);
  }

  async #isNeeded(): Promise<boolean> {
    if (this.#hasAny === null) {
      const { query, schema } = this.#session;
      const { rows } = await query(`select 1 from ${schema}.${watchedUsage} limit 1`);
      this.#hasAny = rows.length > 0;
    }
    return this.#hasAny;
  }
}
