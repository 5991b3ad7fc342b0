import { eventAt } from '../log/event-at.ts';
import type { EventStore } from '../log/types.ts';
import type { LogMark } from './checkpoint.ts';

/**
 * The read models were filled from another log than the one at hand: an older copy was restored,
 * or the address is that of a different store. Following it would show wrong records.
 */
export class ForeignLog extends Error {
  override readonly name = 'ForeignLog';
  constructor(detail: string) {
    super(
      `The event log is not the one that the read models were filled from: ${detail}. ` +
        'Connect to the right event store, or restore the log that belongs to this database. ' +
        'If this log is meant, discard the read models: they are then filled from it again.',
    );
  }
}

/**
 * Looks up the last event that was projected. Throws `ForeignLog` when the log does not have it
 * with the same hash at the same place. Nothing has been projected yet: any log will do.
 */
export async function assertSameLog(store: EventStore, mark: LogMark | null): Promise<void> {
  if (mark === null) return;
  const place = `${mark.stream}@${mark.revision}`;
  const found = await eventAt(store, mark.stream, mark.revision);
  if (!found) {
    throw new ForeignLog(`it ends before event ${place} at position ${mark.position}`);
  }
  if (found.metadata.hash !== mark.hash) throw new ForeignLog(`its event ${place} is another`);
  if (found.position !== mark.position) {
    throw new ForeignLog(
      `its event ${place} is at position ${found.position} instead of ${mark.position}`,
    );
  }
}
