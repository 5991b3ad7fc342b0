import {
  clockSkewDefault,
  createLog,
  createStreams,
  messageOf,
  openEventStore,
  watchClock,
} from '@counterfoil/engine';
import { ledgerCheckpoint } from '@counterfoil/modules';
import { checkpointKeyOf, takeCheckpoints as taken } from '@counterfoil/projector/checkpoints';

import { OperatorError } from './settings.ts';

/** `counterfoil keys public`: the key that checkpoints are checked with, as PEM. */
export const publicKeyOf = (secretKey: string): string =>
  checkpointKeyOf(secretKey).publicKey.trim();

/**
 * `counterfoil checkpoint`: signs the new events of the wallets of every environment. Prints each new
 * checkpoint as one line, to be given to its keeper. Throws `OperatorError` when the clock of this machine
 * is wrong.
 */
export async function takeCheckpoints(
  eventStoreUrl: string,
  secretKey: string,
  print: (line: string) => void,
  limitSeconds = clockSkewDefault,
): Promise<void> {
  const store = openEventStore({ url: eventStoreUrl });
  const log = createLog({ level: 'silent', name: 'checkpoint' });
  const time = watchClock({ store, limitSeconds, log });
  const { doubt: doubtOfTime } = time;
  const streams = createStreams({ store, doubtOfTime, aggregates: [ledgerCheckpoint] });
  try {
    await time.check().catch((error) => {
      throw new OperatorError(messageOf(error));
    });
    for await (const { environmentId, checkpoint } of taken({ store, streams, secretKey })) {
      print(JSON.stringify({ environment_id: environmentId, ...checkpoint }));
    }
  } finally {
    await time.stop();
    await store.close();
  }
}
