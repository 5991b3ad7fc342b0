import { arrayText, type FillSession } from '@counterfoil/engine/define';
import { invariant } from '@counterfoil/kernel';
import type { UsageEvent } from './usage-event.ts';

/** Entries of each kind that are remembered; beyond that all are forgotten, and looked up again. */
const rememberedMaximum = 200_000;

interface Used {
  readonly environmentId: string;
  readonly event: UsageEvent;
}

/**
 * The numbers that stand in the wide tables for environments, accounts and event names. An account is an external
 * id, for as long as one customer has it; until somebody does, it waits for the first who comes.
 */
export class Dictionary {
  readonly #session: FillSession;
  readonly #environments = new Map<string, number>();
  readonly #accounts = new Map<string, string>();
  readonly #names = new Map<string, number>();

  constructor(session: FillSession) {
    this.#session = session;
  }

  forget(): void {
    for (const known of [this.#environments, this.#accounts, this.#names]) known.clear();
  }

  /** The numbers of the environments of some events, by id. */
  async environments(
    used: readonly Pick<Used, 'environmentId'>[],
  ): Promise<ReadonlyMap<string, number>> {
    const missing = new Set<string>();
    for (const { environmentId } of used) {
      if (!this.#environments.has(environmentId)) missing.add(environmentId);
    }
    if (missing.size > 0) {
      const { schema } = this.#session;
      await this.#session.query(
        `insert into ${schema}.environment (environment_id) select * from unnest($1::text[])
           on conflict do nothing`,
        [[...missing]],
      );
      const { rows } = await this.#session.query<{ environment_id: string; number: number }>(
        `select environment_id, number from ${schema}.environment where environment_id = any($1::text[])`,
        [[...missing]],
      );
      for (const { environment_id, number } of rows) this.#environments.set(environment_id, number);
    }
    return this.#environments;
  }

  /** The account of each event. */
  async accounts<One extends Used>(
    used: readonly One[],
    numberOf: (one: One) => number,
  ): Promise<readonly string[]> {
    const keys = used.map((one) => keyOf(numberOf(one), one.event.external_customer_id));
    bound(this.#accounts);
    const missing = [...new Set(keys.filter((key) => !this.#accounts.has(key)))].map(partsOf);
    if (missing.length > 0) {
      const { schema } = this.#session;
      const values = [missing.map(([number]) => number), missing.map(([, id]) => id)];
      await this.#session.query(
        `insert into ${schema}.account (environment, external_id, generation)
         select asked.environment, asked.external_id, 0
           from unnest($1::int[], $2::text[]) as asked (environment, external_id)
          where not exists (select from ${schema}.account as known
                             where known.environment = asked.environment
                               and known.external_id = asked.external_id)`,
        values,
      );
      const { rows } = await this.#session.query<AccountRow>(
        `select distinct on (environment, external_id) environment, external_id, number
           from ${schema}.account join unnest($1::int[], $2::text[]) as asked (environment, external_id)
          using (environment, external_id)
          order by environment, external_id, generation desc`,
        values,
      );
      for (const row of rows) {
        this.#accounts.set(keyOf(row.environment, row.external_id), row.number);
      }
    }
    return keys.map((key) => numberIn(this.#accounts, key));
  }

  /** The number of the name of each event. */
  async names<One extends Used>(
    used: readonly One[],
    numberOf: (one: One) => number,
  ): Promise<readonly number[]> {
    const keys = used.map((one) => keyOf(numberOf(one), one.event.event_name));
    bound(this.#names);
    const missing = [...new Set(keys.filter((key) => !this.#names.has(key)))].map(partsOf);
    if (missing.length > 0) {
      const { schema } = this.#session;
      const values = [missing.map(([number]) => number), missing.map(([, name]) => name)];
      await this.#session.query(
        `insert into ${schema}.event_name (environment, name)
         select * from unnest($1::int[], $2::text[]) on conflict do nothing`,
        values,
      );
      const { rows } = await this.#session.query<NameRow>(
        `select environment, name, number from ${schema}.event_name
           join unnest($1::int[], $2::text[]) as asked (environment, name) using (environment, name)`,
        values,
      );
      for (const row of rows) this.#names.set(keyOf(row.environment, row.name), row.number);
    }
    return keys.map((key) => numberIn(this.#names, key));
  }

  /**
   * Customers have external ids from now on, each another one, and with it the usage that came while nobody had it.
   */
  async claim(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return;
    const environments = await this.environments(claims);
    const numberOf = ({ environmentId }: Claim): number => environments.get(environmentId) ?? 0;
    const { schema } = this.#session;
    const given = `unnest($1::int[], $2::text[], $3::text[])
                     as given (environment, external_id, customer_id)`;
    const values = [
      arrayText(claims.map(numberOf)),
      arrayText(claims.map(({ externalId }) => externalId)),
      arrayText(claims.map(({ customerId }) => customerId)),
    ];
    const { count } = await this.#session.query(
      `update ${schema}.account set customer_id = given.customer_id from ${given}
        where account.environment = given.environment and account.external_id = given.external_id
          and account.customer_id is null
          and generation = (select max(generation) from ${schema}.account as other
                             where other.environment = given.environment
                               and other.external_id = given.external_id)`,
      values,
    );
    if (count === claims.length) return;
    // Those of others, and those that nobody had, begin with nothing.
    await this.#session.query(
      `insert into ${schema}.account (environment, external_id, generation, customer_id)
       select given.environment, given.external_id, coalesce(newest.generation + 1, 0), given.customer_id
         from ${given}
         left join lateral (
           select generation, customer_id from ${schema}.account
            where account.environment = given.environment and account.external_id = given.external_id
            order by generation desc limit 1) as newest on true
        where newest.customer_id is distinct from given.customer_id`,
      values,
    );
    for (const claim of claims) this.#accounts.delete(keyOf(numberOf(claim), claim.externalId));
  }

  /** A customer has its external ids no more: whoever comes after it begins with nothing. */
  async release(environmentId: string, customerId: string): Promise<void> {
    const environment = (await this.environments([{ environmentId }])).get(environmentId);
    const { schema } = this.#session;
    const { rows } = await this.#session.query<{ external_id: string }>(
      `with given_up as (
         update ${schema}.account set released = true
          where environment = $1 and customer_id = $2 and not released
          returning environment, external_id, generation)
       insert into ${schema}.account (environment, external_id, generation)
       select environment, external_id, generation + 1 from given_up
       returning external_id`,
      [environment, customerId],
    );
    for (const { external_id } of rows) this.#accounts.delete(keyOf(environment ?? 0, external_id));
  }
}

/** A customer who has an external id from now on. */
export interface Claim {
  readonly environmentId: string;
  readonly externalId: string;
  readonly customerId: string;
}

interface AccountRow {
  readonly environment: number;
  readonly external_id: string;
  readonly number: string;
}

interface NameRow {
  readonly environment: number;
  readonly name: string;
  readonly number: number;
}

const keyOf = (environment: number, text: string): string => `${environment} ${text}`;

function partsOf(key: string): readonly [environment: string, text: string] {
  const space = key.indexOf(' ');
  return [key.slice(0, space), key.slice(space + 1)];
}

function numberIn<Value>(known: ReadonlyMap<string, Value>, key: string): Value {
  const number = known.get(key);
  invariant(number !== undefined, `${key} has no number`);
  return number;
}

function bound(known: Map<string, unknown>): void {
  if (known.size > rememberedMaximum) known.clear();
}
