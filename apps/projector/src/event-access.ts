import {
  type EventEdge,
  type EventStore,
  followRecords,
  type Keeper,
  type Log,
} from '@counterfoil/engine';
import { accessOf, eventSubscription, type Subscription } from '@counterfoil/modules';

/** An edge that was away, or that lost what it was told, is in order again after this. */
const lookMilliseconds = 15_000;

interface KeepOptions {
  readonly store: EventStore;
  readonly edge: EventEdge;
  readonly log: Log;
}

/**
 * Keeps the NATS edge as the log says: who has credentials, which ones, and who has none any more. It
 * tells only what the edge lacks, so any number of processes may do this.
 */
export function keepAccess({ store, edge, log }: KeepOptions): Keeper {
  let wanted: readonly Subscription[] = [];
  let running: Promise<void> = Promise.resolve();
  // While the edge is away a look takes longer than the time to the next: one may wait, not many.
  let isDue = false;
  let isStopped = false;

  const reconcile = async (): Promise<void> => {
    isDue = false;
    if (isStopped) return;
    const accesses = (isDeleted: boolean) =>
      wanted
        .filter(({ status }) => (status === 'deleted') === isDeleted)
        .flatMap((subscription) => accessOf(subscription) ?? []);
    try {
      await edge.reconcile({ kept: accesses(false), removed: accesses(true) });
    } catch (error) {
      log.warn({ err: error }, 'credentials of downstream systems cannot be kept, tries again');
    }
  };
  const look = (): void => {
    if (isDue) return;
    isDue = true;
    running = running.then(reconcile);
  };
  const following = followRecords({
    store,
    aggregate: eventSubscription,
    log,
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
