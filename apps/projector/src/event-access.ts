import type { EventGateway, EventStore, Keeper, Log } from '@counterfoil/engine';
import { accessOf, type Subscription } from '@counterfoil/modules';
import { keepSubscriptions } from './keep-subscriptions.ts';

interface KeepOptions {
  readonly store: EventStore;
  readonly gateway: EventGateway;
  readonly log: Log;
}

/**
 * Keeps the credentials at the event gateway as the log says: who has them, which ones, and who has
 * none any more. It tells only what the gateway lacks, so any number of processes may do this.
 */
export function keepAccess({ store, gateway, log }: KeepOptions): Keeper {
  const keep = async (wanted: readonly Subscription[]): Promise<void> => {
    const accesses = (isDeleted: boolean) =>
      wanted
        .filter(({ status }) => (status === 'deleted') === isDeleted)
        .flatMap((subscription) => accessOf(subscription) ?? []);
    try {
      await gateway.reconcile({ kept: accesses(false), removed: accesses(true) });
    } catch (error) {
      log.warn({ err: error }, 'credentials of downstream systems cannot be kept, tries again');
    }
  };
  return keepSubscriptions({ store, log, keep });
}
