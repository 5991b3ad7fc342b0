import { type Connection, connect } from './database.ts';

/** The session in which a process listens. */
export interface ListeningSession {
  /**
   * Joins the session, which is opened by the first who does. Who has joined hears the notifications of all channels, and
   * leaves by `close`. Rejects when Postgres cannot be reached.
   */
  join(): Promise<Connection>;
}

type Listener = (channel: string, payload: string) => void;

interface Shared {
  readonly opening: Promise<Connection>;
  readonly listeners: Set<Listener>;
  members: number;
}

/**
 * One session for all that listen in a process. PostgreSQL wakes every session that listens for each notification, whatever its
 * channel, and counts a transaction each time, so a second session costs as much as the first. It ends with the last who leaves;
 * after a loss, of which all of them hear, the next who joins opens another.
 */
export function listeningSession(url: string): ListeningSession {
  let current: Shared | null = null;
  const forget = (shared: Shared): void => {
    if (current === shared) current = null;
  };
  const open = (): Shared => {
    const opening = connect(url, { application: 'counterfoil progress' });
    const shared: Shared = { opening, listeners: new Set(), members: 0 };
    const begin = ({ lost, onNotification }: Connection): void => {
      lost.addEventListener('abort', () => forget(shared));
      onNotification((...heard) => {
        for (const listener of shared.listeners) listener(...heard);
      });
    };
    // Whoever has joined hears of the failure.
    opening.then(begin, () => forget(shared));
    return shared;
  };
  return {
    join: async () => {
      current ??= open();
      const shared = current;
      shared.members += 1;
      return memberOf(shared, await shared.opening, () => forget(shared));
    },
  };
}

/** The session as one of its members has it. */
function memberOf(shared: Shared, connection: Connection, forget: () => void): Connection {
  const own = new Set<Listener>();
  let hasLeft = false;
  return {
    ...connection,
    onNotification(listener) {
      own.add(listener);
      shared.listeners.add(listener);
    },
    async close() {
      if (hasLeft) return;
      hasLeft = true;
      for (const listener of own) shared.listeners.delete(listener);
      shared.members -= 1;
      if (shared.members > 0) return;
      forget();
      await connection.close();
    },
  };
}
