import type { RequestContext } from '@counterfoil/engine/define';
import { type Id, type IdPrefix, invalidOperation } from '@counterfoil/kernel';

/** The part of a context that tells what uses a record. */
export type Reading = Pick<RequestContext, 'read' | 'now'>;

/**
 * Returns what still uses a record, such as "2 active wallets"; null for nothing. Slices above the
 * record's own answer it, because its own does not know them.
 */
export type Use<Prefix extends IdPrefix> = (
  context: Reading,
  id: Id<Prefix>,
) => Promise<string | null>;

/** The first thing that still depends on a record, in words; null for nothing. */
export async function useOf<Prefix extends IdPrefix>(
  context: Reading,
  id: Id<Prefix>,
  uses: readonly Use<Prefix>[],
): Promise<string | null> {
  for (const answer of uses) {
    const use = await answer(context, id);
    if (use !== null) return use;
  }
  return null;
}

/**
 * Throws 400 `invalid_operation` when anything still depends on a record. `what` names its kind.
 * This says how many do; records that begin to depend on it in the same instant are found by the
 * engine (`refersTo` of the aggregates).
 */
export async function refuseWhileInUse<Prefix extends IdPrefix>(
  context: Reading,
  what: string,
  id: Id<Prefix>,
  uses: readonly Use<Prefix>[],
): Promise<void> {
  const use = await useOf(context, id, uses);
  if (use !== null) throw invalidOperation(`The ${what} ${id} still has ${use}. End that first.`);
}

/**
 * Writes a count with a noun that has a regular plural: "1 feature", "3 features"; null for none.
 */
export function countOf(count: number, what: string): string | null {
  if (count === 0) return null;
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
