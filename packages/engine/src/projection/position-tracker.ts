import { type Following, followChannel } from '../consume/follow-channel.ts';
import type { Connection } from '../database/database.ts';
import type { ListeningSession } from '../database/listening-session.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import {
  allDiscarded,
  projectedChannel,
  readProjections,
  readProjector,
  tablesChanged,
} from './checkpoint.ts';
import { PositionClock, type ProjectedPosition } from './projected-position.ts';

const retry = { firstMilliseconds: 100, lastMilliseconds: 5_000 } as const;

/** The progress of the read models, as this process last heard of it. */
export interface PositionTracker {
  readonly projected: ProjectedPosition;
  /** Position of a table that the others have left behind; null for one that is level. */
  behindAt(table: string): Position | null;
  /**
   * For how many milliseconds at least a table that readers see has been left behind by the others;
   * null when it is not.
   */
  lagOf(table: string): number | null;
  /** Tables that readers see and that the others have left behind: stopped or being replaced. */
  behind(): readonly string[];
  /** Resolves once the position has been read. Rejects with the reason of the signal when that aborts first. */
  begun(signal: AbortSignal): Promise<void>;
  /** Throws unless the position is being kept up to date. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Keeps, in this process, how far the read models are: told by Postgres with every batch, over a
 * session that is joined again whenever it is lost.
 */
export function trackPosition(session: ListeningSession, log: Log): PositionTracker {
  const clock = new PositionClock();
  let behind: ReadonlyMap<string, { readonly position: Position; readonly since: number }> =
    new Map();

  /** Never back within one session, in which a notification may overtake an answer. */
  const refresh = async (connection: Connection, heard: () => Position): Promise<void> => {
    const projector = await readProjector(connection);
    const rows = await readProjections(connection);
    behind = new Map(
      rows
        .filter(({ serving, position }) => serving && position < projector.position)
        .map(({ name, position }) => {
          const since = behind.get(name)?.since ?? performance.now();
          return [name, { position, since }];
        }),
    );
    clock.set(projector.position > heard() ? projector.position : heard());
  };

  const begin = (): Following => {
    let heard: Position = 0n;
    let isReset = false;
    return {
      onHeard: (payload) => {
        if (/^\d+$/.test(payload)) {
          heard = BigInt(payload);
          clock.set(heard);
          return false;
        }
        isReset ||= payload === allDiscarded;
        return payload === tablesChanged || payload === allDiscarded;
      },
      refresh: async (connection) => {
        if (isReset) heard = 0n;
        isReset = false;
        await refresh(connection, () => heard);
      },
    };
  };
  const unread = 'The position of the read models has not been read yet.';
  const options = { name: 'following the read models', log, backOff: retry, unread };
  const followed = followChannel(session, projectedChannel, options, begin);

  return {
    projected: clock,
    behindAt: (table) => behind.get(table)?.position ?? null,
    lagOf: (table) => {
      const since = behind.get(table)?.since;
      return since === undefined ? null : performance.now() - since;
    },
    behind: () => [...behind.keys()],
    begun: followed.begun,
    check: followed.check,
    async close() {
      await followed.close();
      clock.close();
    },
  };
}
