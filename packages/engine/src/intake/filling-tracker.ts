import { type Following, followChannel } from '../consume/follow-channel.ts';
import type { ListeningSession } from '../database/listening-session.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import { PositionClock, type ProjectedPosition } from '../projection/projected-position.ts';
import { filledChannel, fillingSchema, readFillings } from './filling-record.ts';

/** The progress of the tables of facts, as this process last heard of it. */
export interface FillingTracker {
  /** The position of the tables of an intake that readers see. */
  reached(name: string): ProjectedPosition;
  /** The schema that readers look into; null while there is none. */
  schemaOf(name: string): string | null;
  /** Resolves once the progress has been read. Rejects with the reason of the signal when that aborts first. */
  begun(signal: AbortSignal): Promise<void>;
  /** Throws unless the progress is being kept up to date. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Follows the fillings, over a session that is joined again whenever it is lost. */
export function trackFillings(session: ListeningSession, log: Log): FillingTracker {
  const clocks = new Map<string, PositionClock>();
  let schemas: ReadonlyMap<string, string> = new Map();

  const clockOf = (name: string): PositionClock => {
    const known = clocks.get(name);
    if (known) return known;
    const made = new PositionClock();
    clocks.set(name, made);
    return made;
  };
  const begin = (): Following => {
    // By schema, for fillings that readers do not see yet tell their positions too.
    const heard = new Map<string, Position>();
    return {
      onHeard: (payload) => {
        const [schema = '', position] = payload.split(' ');
        if (position === undefined) return true;
        heard.set(schema, BigInt(position));
        for (const [name, shown] of schemas) {
          if (shown === schema) clockOf(name).set(BigInt(position));
        }
        return false;
      },
      refresh: async (connection) => {
        const serving = (await readFillings(connection)).filter((row) => row.serving);
        schemas = new Map(serving.map((row) => [row.name, fillingSchema(row)]));
        for (const row of serving) {
          const told = heard.get(fillingSchema(row)) ?? 0n;
          clockOf(row.name).set(told > row.position ? told : row.position);
        }
      },
    };
  };
  const unread = 'The progress of the tables of facts has not been read yet.';
  const options = { name: 'following the tables of facts', log, unread };
  const followed = followChannel(session, filledChannel, options, begin);
  return {
    reached: clockOf,
    schemaOf: (name) => schemas.get(name) ?? null,
    begun: followed.begun,
    check: followed.check,
    async close() {
      await followed.close();
      for (const clock of clocks.values()) clock.close();
    },
  };
}
