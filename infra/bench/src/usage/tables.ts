import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '@counterfoil/cli/settings';
import { Client } from 'pg';
import { countOf } from './events.ts';
import type { UsageLoad, UsagePlan } from './plan.ts';

/** The tables of usage that readers see, over a session of its own. */
export class UsageTables {
  readonly #client: Client;

  constructor(databaseUrl: string) {
    this.#client = new Client({ connectionString: databaseUrl });
  }

  async connect(): Promise<void> {
    await this.#client.connect();
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  /**
   * Waits until the tables have come as far as a position of the log; gives the milliseconds that took. Throws
   * `OperatorError` when they do not come there.
   */
  async untilAt(position: bigint): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      const { rows } = await this.#client.query<{ position: string }>(
        `select position from counterfoil.filling where name = 'usage' and serving`,
      );
      const waited = performance.now() - startedAt;
      if (rows[0] && BigInt(rows[0].position) >= position) return waited;
      if (waited > givenUpMilliseconds) {
        throw new OperatorError(`The tables of usage never came to position ${position}.`);
      }
      await pause(pollMilliseconds);
    }
  }

  /**
   * Waits until sums by a property that a question had kept are complete; gives the milliseconds that took. Throws
   * `OperatorError` when there are none, or they are not complete in time.
   */
  async untilSumsAreKept(): Promise<number> {
    const schema = await this.#schema();
    const startedAt = performance.now();
    for (;;) {
      const { rows } = await this.#client.query<{ kept: boolean | null }>(
        `select bool_and(is_complete) as kept from ${schema}.measure where is_grouping`,
      );
      const waited = performance.now() - startedAt;
      if (rows[0]?.kept) return waited;
      if (waited > givenUpMilliseconds) {
        throw new OperatorError('Sums by a property were never kept.');
      }
      await pause(pollMilliseconds);
    }
  }

  /**
   * The faults of what the tables show of a load, in sentences: every acknowledged event must be there once, with
   * what was sent.
   */
  async faultsIn(
    { ids, events }: Pick<UsagePlan, 'ids' | 'events'>,
    { requests }: Pick<UsageLoad, 'requests'>,
  ): Promise<readonly string[]> {
    const schema = await this.#schema();
    const { rows } = await this.#client.query<Shown>(
      `with shown as (
         select split_part(event_id, '-', 2)::int as request, count(*) as events,
                count(distinct event_id) as ids, sum((properties->>'count')::numeric) as sum
           from ${schema}.event where event_id like $1 group by 1)
       select count(*)::int as requests, coalesce(sum(events), 0)::float8 as events,
              coalesce(sum(ids), 0)::float8 as ids, coalesce(sum(sum), 0)::float8 as sum,
              (select count(*)::int from ${schema}.conflict) as conflicts
         from shown`,
      [`${ids}-%`],
    );
    const shown = rows[0];
    if (!shown) return ['the tables cannot be read'];
    const wanted = { requests, events: requests * events, sum: sumOf(requests, events) };
    return [
      ...different('requests with events', shown.requests, wanted.requests),
      ...different('events', shown.events, wanted.events),
      ...different('ids of events', shown.ids, wanted.events),
      ...different('the sum of the property count', shown.sum, wanted.sum),
      ...different('conflicts', shown.conflicts, 0),
    ];
  }

  /** Bytes of each table with its indexes, partitions added up. */
  async sizes(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#client.query<{ name: string; bytes: number }>(
      `select regexp_replace(relname, '_\\d{4}_\\d{2}.*$|_other$', '') as name,
              sum(pg_total_relation_size(pg_class.oid))::float8 as bytes
         from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where nspname = $1 and relkind = 'r' group by 1`,
      [await this.#schema()],
    );
    return new Map(rows.map(({ name, bytes }) => [name, bytes]));
  }

  async #schema(): Promise<string> {
    const { rows } = await this.#client.query<{ version: number; generation: number }>(
      `select version, generation from counterfoil.filling where name = 'usage' and serving`,
    );
    if (!rows[0]) throw new OperatorError('There are no tables of usage.');
    const { version, generation } = rows[0];
    return `counterfoil_usage_v${version}${generation === 0 ? '' : `_g${generation}`}`;
  }
}

interface Shown {
  readonly requests: number;
  readonly events: number;
  readonly ids: number;
  readonly sum: number;
  readonly conflicts: number;
}

const pollMilliseconds = 20;
const givenUpMilliseconds = 600_000;

/** Halves add up exactly in doubles, up to far more than a load sends. */
function sumOf(requests: number, events: number): number {
  let sum = 0;
  for (let request = 0; request < requests; request += 1) {
    for (let number = 0; number < events; number += 1) sum += countOf(request, number);
  }
  return sum;
}

const different = (what: string, found: number, wanted: number): readonly string[] =>
  found === wanted ? [] : [`${what}: ${found} instead of ${wanted}`];
