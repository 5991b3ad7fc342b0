import { type FirstTenant, firstTenant } from './bootstrap.ts';
import type { Directory, DirectoryEvent } from './directory.ts';
import { readKeyMaterial } from './key-material.ts';

/** The secret from which all keys of a test follow. */
export const material = readKeyMaterial('42'.repeat(32));

/** The names of the first tenant of a test, and of what it begins with. */
export const firstNames: FirstTenant = {
  seed: 'demo',
  tenantName: 'Acme',
  environmentName: 'Production',
  environmentType: 'production',
  userName: 'Ada',
  email: 'ada@example.com',
  keyName: 'First key',
};

/** The first tenant of a test, with its environment, its owner and a key. */
export const first = firstTenant(firstNames, material);

interface LoggedEvent {
  readonly stream: string;
  readonly metadata: object;
}

/** Hands the whole log of a test to a directory. What it has seen before changes nothing. */
export function follow(
  directory: Directory,
  { log }: { readonly log: readonly LoggedEvent[] },
): void {
  for (const { metadata, stream, ...stored } of log) {
    const aggregate_id = stream.slice(stream.indexOf('.') + 1);
    directory.apply({ ...stored, stamp: metadata, aggregate_id } as unknown as DirectoryEvent);
  }
}
