import { once } from 'node:events';
import type { Connection } from '../database/database.ts';
import type { ListeningSession } from '../database/listening-session.ts';
import { type ForeverOptions, runForever } from './run-forever.ts';

/** A time of listening, from joining the session until it is lost or nobody wants it any more. */
export interface Listening {
  /** Told of each notification, with what it says. */
  readonly onHeard: (payload: string) => void;
  /**
   * Called when listening has begun, with the session. It goes on until `end` aborts, and calls `progressed` when it was of
   * use: see `runForever`.
   */
  readonly work: (
    connection: Connection,
    end: AbortSignal,
    progressed: () => void,
  ) => Promise<unknown>;
}

const listenMilliseconds = 5_000;

/**
 * Listens on a channel of PostgreSQL until the signal aborts, over a session that is joined again whenever it is
 * lost: for each time that it is, `begin` says what is to be done. Never rejects.
 */
export const listenOn = (
  session: ListeningSession,
  channel: string,
  options: ForeverOptions,
  begin: () => Listening,
): Promise<void> =>
  runForever(async (progressed) => {
    const connection = await session.join();
    try {
      const end = AbortSignal.any([connection.lost, options.signal]);
      const { onHeard, work } = begin();
      connection.onNotification((from, payload) => {
        if (from === channel) onHeard(payload);
      });
      await connection.query(`listen ${channel}`, [], { timeoutMs: listenMilliseconds });
      await work(connection, end, progressed);
      if (connection.lost.aborted) throw connection.lost.reason;
      return 0;
    } finally {
      await connection.close();
    }
  }, options);

export interface HearOptions extends ForeverOptions {
  /** Told of each notification, and whenever listening begins: something may have been said before. */
  readonly onHeard: () => void;
}

/** Hears that something is said on a channel, until the signal aborts: see `listenOn`. Never rejects. */
export const hearChannel = (
  session: ListeningSession,
  channel: string,
  { onHeard, ...options }: HearOptions,
): Promise<void> =>
  listenOn(session, channel, options, () => ({
    onHeard,
    work: async (_connection, end, progressed) => {
      progressed();
      onHeard();
      if (!end.aborted) await once(end, 'abort');
    },
  }));
