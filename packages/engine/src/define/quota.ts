import { invalidOperation } from '@counterfoil/kernel';
import type { Reader } from './context.ts';
import type { ColumnTypes, Projection } from './projection.ts';

/** The largest number of things of a kind that a tenant or one of its environments may have (D45). */
export interface Quota {
  readonly most: number;
  /** The things and where they are: `API keys in this environment`. */
  readonly noun: string;
  /** The caller's way out, as a sentence. */
  readonly remedy: string;
}

/** Refuses one more where there are as many as there may be. */
export function refuseBeyond({ most, noun, remedy }: Quota, count: number): void {
  if (count < most) return;
  throw invalidOperation(`There are ${count} ${noun}, and ${most} is the limit. ${remedy}`, {
    reason: 'limit_reached',
    limit: most,
  });
}

/** The same where a table has a row for each of them: those that are published count. */
export async function refuseBeyondListed<Row, Resource, Columns extends ColumnTypes>(
  { read }: { readonly read: Reader },
  table: Projection<string, Row, Resource, Columns>,
  quota: Quota,
): Promise<void> {
  const { pagination } = await read.list(table, { limit: 1, offset: 0 });
  refuseBeyond(quota, pagination.total);
}
