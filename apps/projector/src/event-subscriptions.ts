import {
  type EventBroker,
  type EventStore,
  followRecords,
  type Keeper,
  type Log,
  type Metrics,
} from '@counterfoil/engine';
import { eventSubscription, readerOf, type Subscription } from '@counterfoil/modules';

/** A reader that somebody removed by hand, or that a lost broker took along, is back after this. */
const lookMilliseconds = 15_000;

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
export function keepReaders({ store, broker, log, metrics }: KeepOptions): Keeper {
  let wanted: readonly Subscription[] = [];
  const removed = new Set<string>();
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;

  const keepOne = async (subscription: Subscription): Promise<void> => {
    const { id, status } = subscription;
    if (status === 'published') {
      await broker.ensureReader(readerOf(subscription));
    } else if (!removed.has(id)) {
      await broker.removeReader(id);
      removed.add(id);
    }
  };
  const keepAll = async (): Promise<void> => {
    for (const subscription of wanted) {
      if (isStopped) return;
      try {
        await keepOne(subscription);
      } catch (error) {
        const { id } = subscription;
        log.warn(
          { err: error, id },
          'the reader of a downstream system cannot be kept, tries again',
        );
      }
    }
  };
  // While the broker is away a pass takes longer than the time to the next: one may wait, not many.
  let isDue = false;
  const look = (): void => {
    if (isDue) return;
    isDue = true;
    running = running.then(() => {
      isDue = false;
      return keepAll();
    });
  };
  const following = followRecords({
    store,
    aggregate: eventSubscription,
    log,
    ...(metrics ? { metrics } : {}),
    onChange: (subscriptions) => {
      wanted = subscriptions.filter((subscription) => subscription !== null);
      look();
    },
  });
  const timer = setInterval(look, lookMilliseconds);
  return {
    check: () => following.check(),
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await following.stop();
      await running;
    },
  };
}
