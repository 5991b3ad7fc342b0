import type { AskingContext } from '@counterfoil/engine/define';
import { sql } from 'kysely';
import { customer } from '../../customers/index.ts';
import { usageTables } from '../tables.ts';

/** The times at which a customer took an external id, as far as they were by a position, by the id. */
type Claims = ReadonlyMap<string, number>;

/**
 * The numbers of the accounts that customers had by a position of the log. An external id that a customer took later brought usage
 * that had waited for it, of before that position too: it was not the customer's then.
 */
export class AccountsAsOf {
  readonly #position: bigint;
  readonly #known = new Map<string, Promise<readonly string[]>>();

  constructor(position: string) {
    this.#position = BigInt(position);
  }

  of(context: AskingContext, customerIds: readonly string[]): Promise<readonly string[]> {
    const key = JSON.stringify(customerIds);
    const known = this.#known.get(key);
    if (known) return known;
    const found = this.#found(context, customerIds);
    this.#known.set(key, found);
    return found;
  }

  async #found(context: AskingContext, customerIds: readonly string[]): Promise<readonly string[]> {
    const rows = await context.facts.query(usageTables, (from) =>
      from
        .selectFrom('account')
        .innerJoin('environment', 'environment.number', 'account.environment')
        .select(['account.number', 'account.customer_id', 'account.external_id'])
        .where('environment.environment_id', '=', context.principal.environmentId)
        .where(sql<boolean>`account.customer_id = any(${sql.val(customerIds)}::text[])`)
        .orderBy('account.external_id')
        .orderBy('account.generation'),
    );
    const numbers: string[] = [];
    for (const [id, own] of Map.groupBy(rows, ({ customer_id }) => customer_id ?? '')) {
      const claims = await claimsOf(context, id, this.#position);
      // A customer who gave an external id up and took it again has an account for each time.
      for (const [externalId, accounts] of Map.groupBy(own, (row) => row.external_id)) {
        const had = accounts.slice(0, claims.get(externalId) ?? 0);
        numbers.push(...had.map(({ number }) => number));
      }
    }
    return numbers;
  }
}

async function claimsOf(
  context: Pick<AskingContext, 'history'>,
  id: string,
  position: bigint,
): Promise<Claims> {
  const claims = new Map<string, number>();
  for await (const event of context.history(customer, id)) {
    if (BigInt(event.position) > position) break;
    const claimed =
      event.type === 'CustomerCreated'
        ? event.data.external_id
        : event.type === 'CustomerUpdated'
          ? event.data.changes.external_id
          : undefined;
    if (claimed !== undefined) claims.set(claimed, (claims.get(claimed) ?? 0) + 1);
  }
  return claims;
}
