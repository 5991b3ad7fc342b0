import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  codeFingerprint,
  type createLog,
  openSnapshotFolder,
  type StreamsOptions,
} from '@counterfoil/engine';

/** The packages whose code folds events to states. */
const foldingCode = [
  '@counterfoil/kernel',
  '@counterfoil/engine',
  '@counterfoil/modules',
  '@counterfoil/webhooks',
] as const;

/**
 * Snapshots in a folder, for the streams of this process; none without a folder. Those that other code
 * has left there are ignored: it may have folded the same events to another state.
 */
export function snapshotsIn(
  folder: string | undefined,
  log: ReturnType<typeof createLog>,
): Pick<StreamsOptions, 'snapshots'> {
  if (folder === undefined) return {};
  const packages = foldingCode.map((name) =>
    join(dirname(fileURLToPath(import.meta.resolve(name))), '..'),
  );
  const snapshots = openSnapshotFolder({
    folder,
    code: codeFingerprint(packages),
    onError: (error, stream) => log.warn({ err: error, stream }, 'a snapshot failed'),
  });
  return { snapshots };
}
