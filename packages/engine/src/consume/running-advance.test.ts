import {
  aggregate,
  type EnvironmentId,
  type Instant,
  instantOf,
  millisecondsOf,
  Problem,
  type TenantId,
} from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { createStreams } from '../decide/streams.ts';
import { type SystemContext, systemContext } from '../decide/system-context.ts';
import type { Advance, AdvanceStep, Clocks, TestClock } from '../define/clock.ts';
import type { DueWork } from '../define/due-work.ts';
import { silentLog } from '../projection/test-world.ts';
import type { DueRow } from './due-rows.ts';
import { dueRunner } from './due-run.ts';
import { RunningAdvance } from './running-advance.ts';

const test = suite('an advance at work');

const tenantId = 'tenant_1' as TenantId;
const environmentId = 'env_1' as EnvironmentId;
const scope = { tenantId, environmentId, correlationId: 'test' };

const day = (number: number): Instant => instantOf(Date.UTC(2026, 0, number));

/** Rings on its days, oldest first; a ring may set the timer again. */
const timer = aggregate({
  name: 'timer',
  scope: 'environment',
  events: {
    TimerSet: z.object({ at: z.string() }),
    TimerRang: z.object({ at: z.string() }),
  },
  initial: [] as readonly string[],
  evolve: (due: readonly string[], { type, data }): readonly string[] =>
    type === 'TimerSet' ? [...due, data.at].toSorted() : due.filter((at) => at !== data.at),
});

const setTo = (...days: Instant[]) =>
  days.map((at) => ({ type: 'TimerSet', data: { at } }) as const);

interface Options {
  /** The days on which a ring sets the timer again. */
  readonly again?: (id: string, at: Instant) => readonly Instant[];
  /** Runs when the reactions are waited for, with the number of rings so far. */
  readonly react?: (rings: number) => Promise<void>;
  /** Runs before each ring. */
  readonly before?: (id: string, at: Instant) => Promise<void> | void;
}

/** Timers, a clock that stands on the first of January, and processes that move it. */
function world({ again = () => [], before = () => undefined, react }: Options = {}) {
  const store = new MemoryStore();
  let clock: TestClock = { tenantId, environmentId, now: day(1), advance: null };
  const ends: AdvanceStep[] = [];
  const clocks: Clocks = {
    now: () => clock.now,
    testClocks: () => [clock],
    testClock: () => clock,
    step: async (_context, _clock, { number }, step) => {
      await Promise.resolve();
      const { advance } = clock;
      if (advance?.number !== number || step.now < clock.now) return;
      const isEnd = step.kind === 'end';
      if (isEnd) ends.push(step);
      const moved = { ...advance, effects: step.effects, hasMoved: step.now > day(1) };
      clock = { ...clock, now: step.now, advance: isEnd ? null : moved };
    },
  };
  const open = () => createStreams({ store, aggregates: [timer], clock: clocks });
  const streams = open();
  const context = systemContext(streams, scope);
  const ids = new Set<string>();
  const ring = (at: SystemContext, id: string) =>
    at.execute(timer, id, (due, now) =>
      due
        .filter((each) => each <= now)
        .flatMap((each) => [
          { type: 'TimerRang', data: { at: each } } as const,
          ...setTo(...again(id, each as Instant)),
        ]),
    );
  const work: DueWork = {
    name: 'ring',
    table: {} as DueWork['table'],
    column: 'due_at',
    run: async (at, id) => {
      await before(id, clock.now);
      return ring(at as SystemContext, id);
    },
  };
  const rowsUpTo = async (_work: DueWork, _clock: TestClock, upTo: Instant) => {
    const rows: DueRow[] = [];
    for (const id of ids) {
      const { state, recordRevision } = await streams
        .writer<readonly string[]>(timer, environmentId, id)
        .current();
      const [due_at] = state as readonly Instant[];
      if (due_at === undefined || due_at > upTo) continue;
      const place = { tenant_id: tenantId, environment_id: environmentId };
      rows.push({ id, ...place, revision: String(recordRevision), due_at });
    }
    return rows.toSorted((left, right) => (left.due_at < right.due_at ? -1 : 1));
  };
  return {
    store,
    ends,
    set: async (id: string, ...days: Instant[]) => {
      ids.add(id);
      await context.execute(timer, id, () => setTo(...days));
    },
    start: (to: Instant, stopsAtEffect = false) => {
      const advance: Advance = { number: 1, to, stopsAtEffect, hasMoved: false, effects: 0 };
      clock = { ...clock, advance };
    },
    /** Runs the advance as a process does that knows nothing of others. */
    run: (signal = new AbortController().signal) => {
      const own = open();
      const tools = {
        database: '',
        store: { head: async () => BigInt(store.log.length) },
        streams: own,
        clocks,
        work: [work],
        run: dueRunner({ streams: own, log: silentLog }),
        projected: { position: () => 0n, waitFor: async () => true },
        reactions: {
          handled: async () => {
            await react?.(ringsOf(store).length);
            return BigInt(store.log.length);
          },
        },
        isActive: () => true,
        log: silentLog,
      };
      return new RunningAdvance(tools, rowsUpTo, environmentId, signal).run();
    },
    now: () => clock.now,
    /** Each ring as it stands in the log: the timer, its day and the instant of the decision. */
    rings: () =>
      ringsOf(store).map(({ stream, data, metadata }) => [
        stream.split('.')[1],
        dayOf((data as { at: Instant }).at),
        dayOf(metadata.occurred_at),
      ]),
  };
}

const ringsOf = ({ log }: MemoryStore) => log.filter(({ type }) => type === 'TimerRang');

const dayOf = (at: Instant): number => new Date(millisecondsOf(at)).getUTCDate();

test('what is due runs at its instant and in order, and nothing beyond the target', async () => {
  const { set, start, run, rings, now, ends } = world();
  await set('b', day(9), day(3), day(30));
  await set('a', day(5));
  start(day(20));
  await run();
  assert.equal(rings(), [
    ['b', 3, 3],
    ['a', 5, 5],
    ['b', 9, 9],
  ]);
  assert.is(now(), day(20));
  assert.equal(ends, [{ kind: 'end', ended: 'reached', now: day(20), effects: 3 }]);
});

test('what an effect brings runs in its turn, also at the same instant', async () => {
  const brought: Record<string, Instant[]> = { [day(3)]: [day(4), day(3)] };
  const { set, start, run, rings } = world({
    again: (id, at) => (id === 'a' ? (brought[at]?.splice(0) ?? []) : []),
  });
  await set('a', day(3));
  await set('b', day(5));
  start(day(20));
  await run();
  assert.equal(rings(), [
    ['a', 3, 3],
    ['a', 3, 3],
    ['a', 4, 4],
    ['b', 5, 5],
  ]);
});

test('what a reaction brings is not jumped over', async () => {
  let hasReacted = false;
  const { set, start, run, rings } = world({
    react: async (rung) => {
      if (hasReacted || rung === 0) return;
      hasReacted = true;
      await set('b', day(4));
    },
  });
  await set('a', day(3), day(5));
  start(day(20));
  await run();
  assert.equal(rings(), [
    ['a', 3, 3],
    ['b', 4, 4],
    ['a', 5, 5],
  ]);
});

test('it stops at the first instant at which something is due, with all of it done', async () => {
  const { set, start, run, rings, now, ends } = world();
  await set('a', day(3), day(4));
  await set('b', day(3));
  start(day(20), true);
  await run();
  assert.equal([now(), rings().length], [day(3), 2]);
  assert.equal(ends, [{ kind: 'end', ended: 'effect', now: day(3), effects: 2 }]);
});

test('an instant that brings new work without end ends the advance', async () => {
  const { set, start, run, now, ends } = world({ again: (_id, at) => [at] });
  await set('a', day(3));
  start(day(20));
  await run();
  assert.is(now(), day(3));
  const failure = `${day(3)} brings new work 1,000 times: ring of a.`;
  assert.equal(ends, [{ kind: 'end', ended: 'failed', now: day(3), effects: 1_000, failure }]);
});

test('work that fails for good ends the advance, and tells no more than a caller may know', async () => {
  const failures = [new Problem('invalid_operation', 'No bell.'), new Error('secret')];
  for (const [index, told] of [
    'No bell.',
    'an internal error, which the log tells more of.',
  ].entries()) {
    const { set, start, run, ends, now } = world({
      before: (_id, at) => {
        if (at >= day(4)) throw failures[index];
      },
    });
    await set('a', day(3), day(4));
    start(day(20));
    await run();
    assert.is(now(), day(4));
    assert.is(ends[0]?.kind === 'end' && ends[0].ended, 'failed');
    assert.match(JSON.stringify(ends), `ring of a failed: ${told}`);
  }
});

test('a server that is away interrupts it, wherever it is, and it goes on from there', async () => {
  let calls = 0;
  const { set, start, run, rings, now, store } = world();
  await set('a', day(3), day(5));
  await set('b', day(3), day(4));
  start(day(20));
  // One append after the other fails, so every place at which it can be interrupted comes.
  store.fate = () => {
    calls += 1;
    return calls % 2 === 1 ? 'unavailable' : 'written';
  };
  for (let tries = 0; tries < 20 && now() < day(20); tries += 1) await run().catch(() => undefined);
  assert.is(now(), day(20));
  assert.equal(
    rings().map(([, due, at]) => [due, at]),
    [
      [3, 3],
      [3, 3],
      [4, 4],
      [5, 5],
    ],
  );
});

test('two processes at once do everything once and in order', async () => {
  const { set, start, run, rings, now } = world();
  for (const id of ['a', 'b', 'c']) await set(id, day(3), day(4), day(7));
  start(day(20));
  await Promise.all([run(), run(), run()]);
  assert.is(now(), day(20));
  const order = rings().map(([, due]) => due);
  assert.equal(order, [3, 3, 3, 4, 4, 4, 7, 7, 7]);
});

test('a process that is told to end leaves the rest to the next one', async () => {
  const stopping = new AbortController();
  const { set, start, run, rings, now } = world({
    before: (_id, at) => {
      if (at === day(4)) stopping.abort();
    },
  });
  await set('a', day(3), day(4), day(5));
  start(day(20));
  await run(stopping.signal);
  assert.ok(now() < day(20));
  await run();
  assert.equal(
    rings().map(([, due]) => due),
    [3, 4, 5],
  );
});

test.run();
