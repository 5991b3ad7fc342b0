import { type Listening, listenOn } from '../consume/hear-channel.ts';
import { messageOf, sleep } from '../consume/run-forever.ts';
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
  /** Throws unless the progress is being kept up to date. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const refreshMilliseconds = 5_000;

/** Follows the fillings, over a session that is joined again whenever it is lost. */
export function trackFillings(session: ListeningSession, log: Log): FillingTracker {
  const clocks = new Map<string, PositionClock>();
  const stopping = new AbortController();
  let schemas: ReadonlyMap<string, string> = new Map();
  let failure: string | null = 'The progress of the tables of facts has not been read yet.';

  const clockOf = (name: string): PositionClock => {
    const known = clocks.get(name);
    if (known) return known;
    const made = new PositionClock();
    clocks.set(name, made);
    return made;
  };
  const begin = (): Listening => {
    let wake = new AbortController();
    // By schema, for fillings that readers do not see yet tell their positions too.
    const heard = new Map<string, Position>();
    return {
      onHeard: (payload) => {
        const [schema = '', position] = payload.split(' ');
        if (position === undefined) return wake.abort();
        heard.set(schema, BigInt(position));
        for (const [name, shown] of schemas) {
          if (shown === schema) clockOf(name).set(BigInt(position));
        }
      },
      work: async (connection, end, progressed) => {
        while (!end.aborted) {
          wake = new AbortController();
          const serving = (await readFillings(connection)).filter((row) => row.serving);
          schemas = new Map(serving.map((row) => [row.name, fillingSchema(row)]));
          for (const row of serving) {
            // A notification may overtake an answer.
            const told = heard.get(fillingSchema(row)) ?? 0n;
            clockOf(row.name).set(told > row.position ? told : row.position);
          }
          failure = null;
          progressed();
          await sleep(refreshMilliseconds, AbortSignal.any([end, wake.signal]));
        }
      },
    };
  };
  const following = {
    name: 'following the tables of facts',
    log,
    signal: stopping.signal,
    onFailure: (error: unknown) => {
      failure = messageOf(error);
      return undefined;
    },
  };
  const running = listenOn(session, filledChannel, following, begin);
  return {
    reached: clockOf,
    schemaOf: (name) => schemas.get(name) ?? null,
    check: async () => {
      if (failure !== null) throw new Error(failure);
    },
    async close() {
      stopping.abort();
      await running;
      for (const clock of clocks.values()) clock.close();
    },
  };
}
