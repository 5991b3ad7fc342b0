import { once } from 'node:events';
import type { ListeningSession } from '../database/listening-session.ts';
import type { Log } from '../operations/log.ts';
import { runForever } from './run-forever.ts';

export interface HearOptions {
  /** Stands in the log lines about failures. */
  readonly name: string;
  readonly log: Pick<Log, 'warn'>;
  readonly signal: AbortSignal;
  /** Told of each notification, and whenever listening begins: something may have been said before. */
  readonly onHeard: () => void;
}

/**
 * Hears what is said on a channel of PostgreSQL until the signal aborts, over a session that is joined again whenever it is
 * lost. Never rejects.
 */
export const hearChannel = (
  session: ListeningSession,
  channel: string,
  { name, log, signal, onHeard }: HearOptions,
): Promise<void> => {
  const listen = async (progressed: () => void): Promise<number> => {
    const connection = await session.join();
    try {
      const end = AbortSignal.any([connection.lost, signal]);
      connection.onNotification((from) => {
        if (from === channel) onHeard();
      });
      await connection.query(`listen ${channel}`);
      progressed();
      onHeard();
      if (!end.aborted) await once(end, 'abort');
      if (connection.lost.aborted) throw connection.lost.reason;
      return 0;
    } finally {
      await connection.close();
    }
  };
  return runForever(listen, { name, log, signal });
};
