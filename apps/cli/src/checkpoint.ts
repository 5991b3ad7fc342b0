import { createStreams, openEventStore } from '@counterfoil/engine';
import { ledgerCheckpoint } from '@counterfoil/modules';
import { checkpointKeyOf, takeCheckpoints as taken } from '@counterfoil/projector/checkpoints';

/** `counterfoil keys public`: the key that checkpoints are checked with, as PEM. */
export const publicKeyOf = (secretKey: string): string =>
  checkpointKeyOf(secretKey).publicKey.trim();

/**
 * `counterfoil checkpoint`: signs the new events of the wallets of every environment. Prints each new
 * checkpoint as one line, to be given to its keeper.
 */
export async function takeCheckpoints(
  eventStoreUrl: string,
  secretKey: string,
  print: (line: string) => void,
): Promise<void> {
  const store = openEventStore({ url: eventStoreUrl });
  const streams = createStreams({ store, aggregates: [ledgerCheckpoint] });
  try {
    for await (const { environmentId, checkpoint } of taken({ store, streams, secretKey })) {
      print(JSON.stringify({ environment_id: environmentId, ...checkpoint }));
    }
  } finally {
    await store.close();
  }
}
