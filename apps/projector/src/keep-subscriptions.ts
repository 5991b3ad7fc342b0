import {
  type EventStore,
  followRecords,
  type Keeper,
  type Log,
  type Metrics,
} from '@counterfoil/engine';
import { eventSubscription, type Subscription } from '@counterfoil/modules';

/** The time after which a reader that was removed by hand, or lost with its server, is back. */
const lookMilliseconds = 15_000;

interface KeepSubscriptionsOptions {
  readonly store: EventStore;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Makes the outside agree with the log. Asks in between whether it is to stop. Never rejects. */
  readonly keep: (wanted: readonly Subscription[], isStopped: () => boolean) => Promise<void>;
}

/**
 * Keeps something outside in accordance with all event subscriptions, deleted ones among them:
 * after every change of theirs, and from time to time. Looks come one after the other; while the
 * outside is away, a look may take longer than the time to the next one, and then one waits, not
 * many.
 */
export function keepSubscriptions(options: KeepSubscriptionsOptions): Keeper {
  const { keep, ...followed } = options;
  let wanted: readonly Subscription[] = [];
  let running: Promise<void> = Promise.resolve();
  let isDue = false;
  let isStopped = false;

  const run = async (): Promise<void> => {
    isDue = false;
    if (!isStopped) await keep(wanted, () => isStopped);
  };
  const look = (): void => {
    if (isDue) return;
    isDue = true;
    running = running.then(run);
  };
  const following = followRecords({
    ...followed,
    aggregate: eventSubscription,
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
