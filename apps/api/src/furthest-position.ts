import type { EventStore, ReadModel } from '@counterfoil/engine';

/**
 * Makes the question for the furthest position that the API may have named to somebody: that of the last event, or that
 * of the read models, which is beyond it where the store has passed over what others wrote after it.
 */
export const furthestPosition =
  (
    store: Pick<EventStore, 'head'>,
    { projected }: { readonly projected: Pick<ReadModel['projected'], 'position'> },
  ): (() => Promise<bigint>) =>
  async () => {
    const head = await store.head();
    const shown = projected.position();
    return shown > head ? shown : head;
  };
