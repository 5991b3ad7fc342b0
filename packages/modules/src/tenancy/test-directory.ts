import type { Directory, DirectoryEvent } from './directory.ts';

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
