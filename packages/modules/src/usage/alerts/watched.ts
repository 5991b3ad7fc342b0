import { arrayText, type FillSession } from '@counterfoil/engine/define';
import {
  type ChangedUsage,
  markedAgain,
  type TouchedUsage,
  type UsageWatcher,
} from '../watcher.ts';
import type { UsageAlertEvent } from './usage-alert.ts';

/** The table of alerts, with marks on those whose usage may have changed. */
export const watched = 'watched';

/** The statements that make it. It is for the service itself: callers do not see it. */
export const createWatchedTable = (schema: string): readonly string[] => [
  `create table ${schema}.${watched} (
     id text collate "C" primary key,
     tenant_id text collate "C" not null,
     environment_id text collate "C" not null,
     environment integer not null,
     customer_id text collate "C" not null,
     meter_id text collate "C" not null,
     event_name text collate "C" not null,
     marked_at timestamptz,
     causes bigint not null)`,
  `create index on ${schema}.${watched} (customer_id, event_name)`,
  `create index on ${schema}.${watched} (marked_at) where marked_at is not null`,
];

/** Its contents but for the marks, which come and go. */
export const comparedWatched = (schema: string): string =>
  `select id, tenant_id, environment_id, customer_id, meter_id, event_name from ${schema}.${watched}`;

/** An event of an alert, and whose it is. */
export interface AlertChange {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly environment: number;
  readonly id: string;
  readonly event: UsageAlertEvent;
}

/**
 * The alerts of all customers, as the log says, in the session that fills the tables. Usage that no alert looks at costs
 * nothing: the names that some alert looks at are kept in memory.
 */
export class Watched implements UsageWatcher {
  readonly #session: FillSession;
  #names: Set<string> | null = null;

  constructor(session: FillSession) {
    this.#session = session;
  }

  forget(): void {
    this.#names = null;
  }

  /** Follows the life of an alert. Whatever changes what may be crossed is a reason to look. */
  async follow({ id, event, ...place }: AlertChange): Promise<void> {
    const { query, schema } = this.#session;
    switch (event.type) {
      case 'UsageAlertCreated': {
        const { tenantId, environmentId, environment } = place;
        const { customer_id, meter_id, event_name } = event.data;
        await query(
          `insert into ${schema}.${watched} values ($1, $2, $3, $4, $5, $6, $7, now(), 1)`,
          [id, tenantId, environmentId, environment, customer_id, meter_id, event_name],
        );
        this.#names?.add(nameKey(environment, event_name));
        return;
      }
      case 'UsageAlertUpdated':
      case 'UsageAlertPeriodEnded':
        return await this.#mark('id = $1', [id]);
      case 'UsageAlertDeleted':
        await query(`delete from ${schema}.${watched} where id = $1`, [id]);
        this.forget();
        return;
      case 'UsageThresholdCrossed':
        return;
      default:
        event satisfies never;
    }
  }

  /** A meter counts other events than before. */
  meterChanged(meterId: string): Promise<void> {
    return this.#mark('meter_id = $1', [meterId]);
  }

  customersChanged(customerIds: readonly string[]): Promise<void> {
    return this.#mark('customer_id = any($1::text[])', [arrayText(customerIds)]);
  }

  async touch({ events }: ChangedUsage): Promise<void> {
    const names = await this.#load();
    if (names.size === 0) return;
    const touched = new Map<string, TouchedUsage>();
    for (const one of events()) {
      const key = nameKey(one.environment, one.eventName);
      if (names.has(key)) touched.set(`${one.account} ${key}`, one);
    }
    if (touched.size === 0) return;
    const { schema } = this.#session;
    const all = [...touched.values()];
    await this.#mark(
      `id in (select alert.id from unnest($1::bigint[], $2::text[]) as touched (account, name)
                join ${schema}.account on account.number = touched.account
                join ${schema}.${watched} as alert
                  on alert.environment = account.environment
                 and alert.customer_id = account.customer_id and alert.event_name = touched.name)`,
      [
        arrayText(all.map(({ account }) => account)),
        arrayText(all.map(({ eventName }) => eventName)),
      ],
    );
  }

  async #mark(condition: string, values: readonly unknown[]): Promise<void> {
    if ((await this.#load()).size === 0) return;
    const { query, schema } = this.#session;
    await query(`update ${schema}.${watched} set ${markedAgain} where ${condition}`, values);
  }

  async #load(): Promise<ReadonlySet<string>> {
    if (this.#names) return this.#names;
    const { query, schema } = this.#session;
    const { rows } = await query<{ environment: number; event_name: string }>(
      `select distinct environment, event_name from ${schema}.${watched}`,
    );
    this.#names = new Set(rows.map((row) => nameKey(row.environment, row.event_name)));
    return this.#names;
  }
}

const nameKey = (environment: number, name: string): string => `${environment} ${name}`;
