import { LRUCache } from 'lru-cache';
import { type Connection, transactionAtOnce } from '../database/database.ts';
import type { Log } from '../operations/log.ts';
import type { TrustedTime } from '../operations/trusted-time.ts';
import { runForever } from './run-forever.ts';

const defaultTickMilliseconds = 500;

export interface WorkRoundsOptions {
  /** Tells whether this process does the work; the others stand by. */
  readonly isActive: () => boolean;
  /** Nothing is done while the clock of this process is wrong. */
  readonly time?: Pick<TrustedTime, 'isRight'>;
  readonly log: Log;
  readonly tickMilliseconds?: number;
}

/** The work of one kind of rounds. */
export interface WorkRounds {
  readonly name: string;
  readonly connect: () => Promise<Connection>;
  /** One round over a connection that is kept. Returns whether there may be more at once. */
  readonly round: (connection: Connection) => Promise<boolean>;
}

/** Does rounds of work that the service does by itself until the signal aborts. A connection that failed is exchanged. */
export async function keepRounds(
  { isActive, time, log, tickMilliseconds: tick = defaultTickMilliseconds }: WorkRoundsOptions,
  { name, connect, round }: WorkRounds,
  signal: AbortSignal,
): Promise<void> {
  let connection: Connection | null = null;
  const takeTurn = async (): Promise<number> => {
    if (!isActive() || (await time?.isRight()) === false) return tick;
    connection ??= await connect();
    try {
      return (await round(connection)) ? 0 : tick;
    } catch (error) {
      await connection.close();
      connection = null;
      throw error;
    }
  };
  await runForever(takeTurn, { name, log, signal });
  await (connection as Connection | null)?.close();
}

/** Reads for each kind of work, by statements that only read: in one round trip, and one transaction. */
export const readTogether = <Work, Found>(
  connection: Connection,
  kinds: readonly Work[],
  read: (work: Work) => Promise<Found>,
): Promise<readonly Found[]> =>
  transactionAtOnce(connection, () => Promise.all(kinds.map(read)), 'begin read only');

/** The records whose work failed, which rest for a while. The oldest are forgotten first where there are too many. */
export class FailedWork {
  readonly #failed: LRUCache<string, true>;

  constructor(most: number, restMilliseconds: number) {
    this.#failed = new LRUCache({ max: most, ttl: restMilliseconds });
  }

  note(work: { readonly name: string }, id: string): void {
    this.#failed.set(`${work.name} ${id}`, true);
  }

  /** The ids of those that rest. */
  of({ name }: { readonly name: string }): readonly string[] {
    const own = `${name} `;
    return [...this.#failed.keys()]
      .filter((key) => key.startsWith(own))
      .map((key) => key.slice(own.length));
  }
}
