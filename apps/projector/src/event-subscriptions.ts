import type { EventBroker, EventStore, Keeper, Log, Metrics } from '@counterfoil/engine';
import { readerOf, type Subscription } from '@counterfoil/modules';
import { keepSubscriptions } from './keep-subscriptions.ts';

interface KeepOptions {
  readonly store: EventStore;
  readonly broker: EventBroker;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/**
 * Keeps the readers at the broker as the log says: makes those that are missing, replaces those that
 * are out of date and removes those of deleted subscriptions. Doing it twice changes nothing, so
 * any number of processes may.
 */
export function keepReaders({ broker, ...followed }: KeepOptions): Keeper {
  const removed = new Set<string>();
  const keepOne = async (subscription: Subscription): Promise<void> => {
    const { id, status } = subscription;
    if (status === 'published') {
      await broker.ensureReader(readerOf(subscription));
    } else if (!removed.has(id)) {
      await broker.removeReader(id);
      removed.add(id);
    }
  };
  return keepSubscriptions({
    ...followed,
    keep: async (wanted, isStopped) => {
      for (const subscription of wanted) {
        if (isStopped()) return;
        try {
          await keepOne(subscription);
        } catch (error) {
          followed.log.warn(
            { err: error, id: subscription.id },
            'the reader of a downstream system cannot be kept, tries again',
          );
        }
      }
    },
  });
}
