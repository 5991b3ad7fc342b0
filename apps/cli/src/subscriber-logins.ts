import { type EventStore, followRecords, type Keeper, type Log } from '@counterfoil/engine';
import { type NatsFiles, natsLogins, replaceNatsLogins } from '@counterfoil/local';
import { eventSubscription, loginOf, type PasswordOf } from '@counterfoil/modules';

interface LoginOptions {
  readonly store: EventStore;
  readonly passwordOf: PasswordOf;
  readonly files: NatsFiles;
  /** With which the service itself logs in. */
  readonly servicePassword: string;
  readonly log: Log;
}

/**
 * Keeps the logins of a nats-server as the event subscriptions say, for as long as it runs: each
 * subscription may read through its own consumer and nothing else. It has to run where the
 * server's files are.
 */
export function keepSubscriberLogins(options: LoginOptions): Keeper {
  const { store, passwordOf, files, servicePassword, log } = options;
  let written = '';
  return followRecords({
    store,
    aggregate: eventSubscription,
    log,
    onChange: (subscriptions) => {
      const logins = subscriptions.flatMap((subscription) =>
        subscription?.status === 'published'
          ? [{ ...loginOf(subscription), password: passwordOf(subscription.id) }]
          : [],
      );
      const content = natsLogins(servicePassword, logins);
      if (content === written) return;
      replaceNatsLogins(files, content);
      written = content;
      log.info({ logins: logins.length }, 'logins of downstream systems are up to date');
    },
  });
}
