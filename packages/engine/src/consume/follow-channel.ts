import type { Connection } from '../database/database.ts';
import type { ListeningSession } from '../database/listening-session.ts';
import { listenOn } from './hear-channel.ts';
import { type ForeverOptions, messageOf, sleep, unlessAborted } from './run-forever.ts';

/** The knowledge of one session; the next one begins anew. */
export interface Following {
  /** Told of each notification. True when something has to be read again because of it. */
  readonly onHeard: (payload: string) => boolean;
  /** Reads what is followed. A notification may overtake an answer. */
  readonly refresh: (connection: Connection) => Promise<void>;
}

export interface Followed {
  /** Resolves once what is followed has been read for the first time. Rejects with the reason of the signal when that aborts first. */
  begun(signal: AbortSignal): Promise<void>;
  /** Throws unless what is followed is being kept up to date. */
  check(): Promise<void>;
  close(): Promise<void>;
}

type FollowOptions = Omit<ForeverOptions, 'signal' | 'onFailure'> & {
  /** The reason why `check` throws before anything has been read. */
  readonly unread: string;
};

/** Also a sign of life, and it finds what no notification told. */
const refreshMilliseconds = 5_000;

/**
 * Keeps what a channel of PostgreSQL tells of: read when listening begins, when a notification says so, and from time to
 * time. The session is joined again whenever it is lost, until it is closed.
 */
export function followChannel(
  session: ListeningSession,
  channel: string,
  { unread, ...options }: FollowOptions,
  begin: () => Following,
): Followed {
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  let failure: string | null = unread;
  const onFailure = (error: unknown): undefined => {
    failure = messageOf(error);
  };
  const running = listenOn(
    session,
    channel,
    { ...options, signal: stopping.signal, onFailure },
    () => {
      const { onHeard, refresh } = begin();
      let wake = new AbortController();
      return {
        onHeard: (payload) => {
          if (onHeard(payload)) wake.abort();
        },
        work: async (connection, end, progressed) => {
          while (!end.aborted) {
            wake = new AbortController();
            await refresh(connection);
            failure = null;
            first.resolve();
            progressed();
            await sleep(refreshMilliseconds, AbortSignal.any([end, wake.signal]));
          }
        },
      };
    },
  );
  return {
    begun: (signal) => unlessAborted(first.promise, signal),
    check: async () => {
      if (failure !== null) throw new Error(failure);
    },
    async close() {
      stopping.abort();
      await running;
    },
  };
}
