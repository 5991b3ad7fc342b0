import type { Projection, RecordedEvent, RequestContext } from '@counterfoil/engine/define';
import type { WalletEvent } from './events.ts';
import { walletTable } from './projection.ts';
import { wallet } from './wallet.ts';

/** Records in the stream of a wallet that its state forgets when they have ended: holds, and top-ups. */
export interface Children<Resource> {
  // biome-ignore lint/suspicious/noExplicitAny: columns are no matter of a look-up by id.
  readonly table: Projection<string, Resource, Resource, any>;
  /** A child after an event of the wallet, which may be about another one; null before it exists. */
  readonly after: (
    child: Resource | null,
    event: RecordedEvent<WalletEvent>,
    id: string,
  ) => Resource | null;
}

/**
 * Loads a child as the log has it, now or at a revision of its wallet: the row of the read model, and the
 * events that the row does not show yet. Null for an id that the wallet never had.
 */
export async function childOf<Resource extends object>(
  context: Pick<RequestContext, 'read' | 'history'>,
  { table, after }: Children<Resource>,
  walletId: string,
  id: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<Resource | null> {
  // The wallet first: rows that are read after it show at least as much. Without its revision an id that
  // nobody knows would cost the whole history of the wallet.
  const shown = await context.read.find(walletTable, walletId);
  const found = await context.read.find(table, id);
  const isTooNew = found !== null && found.revision > upTo;
  let child = isTooNew ? null : (found?.resource ?? null);
  const last = isTooNew ? -1 : Math.max(shown?.revision ?? -1, found?.revision ?? -1);
  for await (const event of context.history(wallet, walletId, { from: last + 1 })) {
    if (event.revision > upTo) break;
    child = after(child, event, id);
  }
  return child;
}

/** Loads children as the log has them now, by id. Ids that the wallet never had are missing. */
export async function childrenOf<Resource extends object>(
  context: Pick<RequestContext, 'read' | 'history'>,
  { table, after }: Children<Resource>,
  walletId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Resource>> {
  // Rows that are newer than that of the wallet see some events again, and come out the same.
  const shown = await context.read.find(walletTable, walletId);
  const children = new Map(await context.read.findMany(table, ids));
  for await (const event of context.history(wallet, walletId, {
    from: (shown?.revision ?? -1) + 1,
  })) {
    for (const id of ids) {
      const child = after(children.get(id) ?? null, event, id);
      if (child) children.set(id, child);
    }
  }
  return children;
}
