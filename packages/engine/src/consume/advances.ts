import type { EnvironmentId } from '@counterfoil/kernel';
import { connect } from '../database/database.ts';
import { planByIndex } from '../database/statements.ts';
import type { TestClock } from '../define/clock.ts';
import { dueRowsUpTo } from './due-rows.ts';
import { runForever, sleep } from './run-forever.ts';
import { type AdvanceTools, type RowsUpTo, RunningAdvance } from './running-advance.ts';

/** Clocks that advance beside each other; more have to wait. */
const clocksAtOnce = 8;
const tickMilliseconds = 500;

/** The test clocks that a process moves. */
export interface Advances {
  /** Looks at the clocks now: one of them may have been sent on its way. */
  wake(): void;
  stop(): Promise<void>;
}

/** Moves every clock that is on its way, from due instant to due instant: see ADR 26. */
export function startAdvances(tools: AdvanceTools): Advances {
  const stopping = new AbortController();
  const under = new Map<EnvironmentId, Promise<void>>();
  let awake = new AbortController();

  const begin = ({ environmentId }: TestClock): void => {
    const over = new AbortController();
    const signal = AbortSignal.any([stopping.signal, over.signal]);
    const takeTurn = async (): Promise<number> => {
      const connection = await connect(tools.database, { application: 'counterfoil clock' });
      try {
        await connection.query(planByIndex);
        const rowsUpTo: RowsUpTo = (...asked) => dueRowsUpTo(connection, ...asked);
        await new RunningAdvance(tools, rowsUpTo, environmentId, signal).run();
        over.abort();
      } finally {
        await connection.close();
      }
      return 0;
    };
    const name = `the advance of the clock of ${environmentId}`;
    const running = runForever(takeTurn, { name, log: tools.log, signal });
    under.set(
      environmentId,
      running.finally(() => under.delete(environmentId)),
    );
  };

  const look = async (): Promise<number> => {
    awake = new AbortController();
    if (tools.isActive()) {
      for (const clock of tools.clocks.testClocks()) {
        if (clock.advance === null || under.has(clock.environmentId)) continue;
        if (under.size < clocksAtOnce) begin(clock);
      }
    }
    await sleep(tickMilliseconds, AbortSignal.any([stopping.signal, awake.signal]));
    return 0;
  };

  const looking = runForever(look, { name: 'clocks', log: tools.log, signal: stopping.signal });
  return {
    wake: () => awake.abort(),
    async stop() {
      stopping.abort();
      await Promise.all([looking, ...under.values()]);
    },
  };
}
