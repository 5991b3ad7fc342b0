import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type EventStore, openEventStore, type StoredEvent, streamName } from '@counterfoil/engine';
import { canonicalJson, type EnvironmentId, type WalletId } from '@counterfoil/kernel';
import { wallet } from '@counterfoil/modules';
import { OperatorError } from './settings.ts';

/** Which wallet to export. */
export interface ExportOptions {
  readonly walletId: WalletId;
  readonly environmentId: EnvironmentId;
}

/** An event exactly as it was hashed, with its hash: nothing of it is left out or written anew. */
const eventLine = ({ data, id, metadata, revision, stream, type }: StoredEvent): string =>
  canonicalJson({ data, id, metadata, revision, stream, type });

/**
 * `counterfoil export`: the ledger of a wallet as lines of canonical JSON. A header, each event as
 * it stands in the log, and a trailer that names the last one, so that a lost end is noticed.
 * Throws `OperatorError` when there is no such wallet.
 */
export async function* ledgerLines(
  store: EventStore,
  { walletId, environmentId }: ExportOptions,
): AsyncGenerator<string> {
  const stream = streamName({ category: wallet.name, scope: environmentId, id: walletId });
  const position = String(await store.head());
  yield canonicalJson({ format: 'counterfoil-ledger', version: 1, stream, position });
  let last: StoredEvent | null = null;
  for await (const event of store.readStream(stream)) {
    yield eventLine(event);
    last = event;
  }
  if (!last) throw new OperatorError(`Environment ${environmentId} has no wallet ${walletId}.`);
  yield canonicalJson({ head: { hash: last.metadata.hash, revision: last.revision } });
}

/** `counterfoil export`: writes the ledger, no faster than it is taken off. */
export async function exportLedger(
  eventStoreUrl: string,
  output: Writable,
  options: ExportOptions,
): Promise<void> {
  const store = openEventStore({ url: eventStoreUrl });
  try {
    const lines = Readable.from(ledgerLines(store, options)).map((line: string) => `${line}\n`);
    await pipeline(lines, output, { end: false });
  } finally {
    await store.close();
  }
}
