import { createLog, openEventStore } from '@counterfoil/engine';
import type { NatsFiles } from '@counterfoil/local';
import { secretsFrom } from '@counterfoil/modules';
import { keepSubscriberLogins } from './subscriber-logins.ts';

interface NatsLoginsOptions {
  readonly eventStoreUrl: string;
  readonly secretKey: string;
  readonly servicePassword: string;
  readonly files: NatsFiles;
  readonly signal: AbortSignal;
}

/** `counterfoil nats-logins`: keeps the logins file of a nats-server until the signal aborts. */
export async function runNatsLogins(options: NatsLoginsOptions): Promise<void> {
  const { eventStoreUrl, secretKey, servicePassword, files, signal } = options;
  const store = openEventStore({ url: eventStoreUrl });
  const keeper = keepSubscriberLogins({
    store,
    passwordOf: secretsFrom(secretKey).subscriberPasswordOf,
    files,
    servicePassword,
    log: createLog({ level: 'info', name: 'nats-logins' }),
  });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await keeper.stop();
  await store.close();
}
