import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type EventStore,
  openEventStore,
  RewrittenLog,
  readProofs,
  recordedLine,
  type StoredEvent,
  streamName,
} from '@counterfoil/engine';
import { canonicalJson, type EnvironmentId, type WalletId } from '@counterfoil/kernel';
import { type Checkpoint, ledgerPrefix, wallet } from '@counterfoil/modules';
import { checkpointsOf } from '@counterfoil/projector/checkpoints';
import { OperatorError } from './settings.ts';

/** The wallet to export, and the proofs to add. */
export interface ExportOptions {
  readonly walletId: WalletId;
  readonly environmentId: EnvironmentId;
  /** Adds the last checkpoint of the environment and the proof that the wallet is in it. */
  readonly withProofs?: boolean;
  /** Id of an earlier checkpoint; adds the proof that the last one extends it. */
  readonly since?: string | undefined;
}

/**
 * `counterfoil export`: the ledger of a wallet as lines of canonical JSON. A header, each event as
 * it stands in the log, and a trailer that names the last one, so that a lost end is noticed; then
 * the proofs. Throws `OperatorError` when there is no such wallet or nothing to prove it by.
 */
export async function* ledgerLines(
  store: EventStore,
  options: ExportOptions,
): AsyncGenerator<string> {
  const { walletId, environmentId, withProofs = false } = options;
  const stream = streamName({ category: wallet.name, scope: environmentId, id: walletId });
  const proofs = withProofs ? await proofLines(store, stream, options) : [];
  const position = String(await store.head());
  yield canonicalJson({ format: 'counterfoil-ledger', version: 1, stream, position });
  let last: StoredEvent | null = null;
  for await (const event of store.readStream(stream)) {
    yield recordedLine(event);
    last = event;
  }
  if (!last) throw new OperatorError(`Environment ${environmentId} has no wallet ${walletId}.`);
  yield canonicalJson({ head: { hash: last.metadata.hash, revision: last.revision } });
  yield* proofs;
}

/** The last checkpoint, the inclusion of the wallet in it, and its consistency with an earlier one. */
async function proofLines(
  store: EventStore,
  stream: string,
  { environmentId, since }: ExportOptions,
): Promise<readonly string[]> {
  const { last, earlier } = await checkpointsFor(store, environmentId, since);
  const { tree_size: size, root_hash: root, heads_root: headsRoot, position } = last;
  const { statement, signature, key_id } = last;
  try {
    const { inclusion, consistency, head } = await readProofs(store, {
      prefix: ledgerPrefix(environmentId),
      tree: { size, root, position, headsRoot },
      stream,
      from: earlier?.tree_size ?? null,
    });
    if (!inclusion) throw new OperatorError('No checkpoint has this wallet yet. Take one first.');
    return [
      canonicalJson({ checkpoint: { key_id, signature, statement } }),
      canonicalJson({ inclusion }),
      ...(head ? [canonicalJson({ completeness: head })] : []),
      ...(consistency ? [canonicalJson({ consistency })] : []),
    ];
  } catch (error) {
    if (!(error instanceof RewrittenLog)) throw error;
    throw new OperatorError(`There is no proof for checkpoint ${last.id}: ${error.message}`);
  }
}

/** The last checkpoint of an environment, and the one with an id. */
async function checkpointsFor(
  store: EventStore,
  environmentId: EnvironmentId,
  since: string | undefined,
): Promise<{ readonly last: Checkpoint; readonly earlier: Checkpoint | null }> {
  const all = await checkpointsOf(store, environmentId);
  const last = all.at(-1);
  const earlier = all.find(({ id }) => id === since) ?? null;
  if (!last)
    throw new OperatorError('There is no checkpoint yet. Take one: counterfoil checkpoint');
  if (since !== undefined && !earlier) throw new OperatorError(`There is no checkpoint ${since}.`);
  return { last, earlier };
}

/** `counterfoil export`: writes the ledger, no faster than its reader takes it. */
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
