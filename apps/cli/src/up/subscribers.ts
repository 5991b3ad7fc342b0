import { join } from 'node:path';
import { createLog, openEventStore } from '@counterfoil/engine';
import { natsFiles, servicePassword } from '@counterfoil/local';
import { secretsFrom } from '@counterfoil/modules';
import { keepSubscriberLogins } from '../subscriber-logins.ts';

/** Keeps the logins of downstream systems at the local nats-server. Gives what stops it. */
export function keepLocalLogins(
  folder: string,
  eventStoreUrl: string,
  secretKey: string,
): () => Promise<void> {
  const log = createLog({ level: 'warn', name: 'logins' });
  const store = openEventStore({ url: eventStoreUrl });
  const keeper = keepSubscriberLogins({
    store,
    passwordOf: secretsFrom(secretKey).subscriberPasswordOf,
    files: natsFiles(join(folder, 'nats')),
    servicePassword: servicePassword(),
    log,
  });
  return async () => {
    await keeper.stop();
    await store.close();
  };
}
