import { aggregate } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { UnreadableEvent } from '../log/incoming-event.ts';
import type { EventStore, LogItem, StoredEvent } from '../log/types.ts';
import { createLog } from '../operations/log.ts';
import { createMetrics } from '../operations/metrics.ts';
import { followRecords, type Keeper } from './live-records.ts';

const test = suite('records that are followed in memory');

const lamp = aggregate({
  name: 'lamp',
  scope: 'environment',
  events: { Lit: z.object({ by: z.string() }) },
  initial: '',
  evolve: (state: string, { data }): string => {
    if (data.by === 'poison') throw new Error('it cannot be lit by that');
    return state + data.by;
  },
});

/** A log that a test writes, with a subscription that ends as soon as it comes to `broken`. */
function writtenLog() {
  const items: LogItem[] = [];
  let wake: () => void = () => undefined;
  const revisions = new Map<string, number>();
  const world = {
    broken: false,
    subscriptions: 0,
    write(id: string, by: string, type = 'Lit') {
      const stream = `lamp-env_1.${id}`;
      const revision = (revisions.get(stream) ?? -1) + 1;
      revisions.set(stream, revision);
      const metadata = { schema_version: 1, occurred_at: '2026-01-01T00:00:00.000Z' };
      const position = BigInt(items.length + 1);
      const event = { stream, revision, type, data: { by }, metadata, position };
      items.push({ kind: 'event', event: event as unknown as StoredEvent });
      wake();
    },
    end() {
      world.broken = true;
      wake();
    },
  };
  const store = {
    async *follow({ signal }: { readonly signal: AbortSignal }) {
      world.subscriptions += 1;
      signal.addEventListener('abort', () => wake());
      let next = items.length;
      if (world.broken) throw new UnreadableEvent('lamp-env_1.9', 3, 'it is no JSON');
      yield [...items, { kind: 'caught_up' }];
      while (!signal.aborted) {
        if (world.broken) throw new UnreadableEvent('lamp-env_1.9', 3, 'it is no JSON');
        const fresh = items.slice(next);
        next = items.length;
        if (fresh.length > 0) yield fresh;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
  return { world, store: store as unknown as EventStore };
}

/** Lets everything happen that needs no waiting. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function following(
  work: (given: {
    readonly keeper: Keeper;
    readonly written: ReturnType<typeof writtenLog>['world'];
    readonly told: (readonly string[])[];
    faults(): Promise<number>;
    /** The problem that `check` reports; empty when there is none. */
    problem(): Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  const { world: written, store } = writtenLog();
  const told: (readonly string[])[] = [];
  const metrics = createMetrics({ processMetrics: false });
  written.write('1', 'a');
  const keeper = followRecords({
    store,
    aggregate: lamp,
    log: createLog({ level: 'silent', name: 'test' }),
    metrics,
    onChange: (states) => told.push(states),
    retry: { firstMilliseconds: 1, lastMilliseconds: 1 },
  });
  const faults = async () => {
    const metric = await metrics.registry.getSingleMetric('counterfoil_follow_faults')?.get();
    return metric?.values[0]?.value ?? Number.NaN;
  };
  const problem = () =>
    keeper.check().then(
      () => '',
      (error: Error) => error.message,
    );
  try {
    await turns();
    await work({ keeper, written, told, faults, problem });
  } finally {
    await keeper.stop();
  }
}

test('the states of all records are told at the start and after every change', () =>
  following(async ({ written, told, faults, problem }) => {
    assert.equal(told.at(-1), ['a']);
    written.write('2', 'b');
    written.write('1', 'c');
    written.write('1', '', 'RequestWithoutEffect');
    await turns();
    assert.equal(told.at(-1), ['ac', 'b']);
    assert.is(await problem(), '');
    assert.is(await faults(), 0);
  }));

test('a record with an event that cannot be folded stops alone, and is told of', () =>
  following(async ({ written, told, faults, problem }) => {
    written.write('1', 'poison');
    written.write('1', 'b');
    written.write('2', 'c');
    await turns();
    assert.equal(told.at(-1), ['a', 'c']);
    assert.match(await problem(), /lamp-env_1.1@1: it cannot be lit by that$/);
    written.write('2', '', 'Melted');
    await turns();
    assert.is(await faults(), 2);
    assert.match(await problem(), /\(and 1 more\)/);
  }));

test('a log that cannot be read on is read again until it can; meanwhile that is told', () =>
  following(async ({ written, told, faults, problem }) => {
    written.end();
    await turns();
    assert.match(await problem(), /lamp-env_1.9@3/);
    assert.is(await faults(), 1);
    const before = told.length;
    const { subscriptions } = written;
    while (written.subscriptions < subscriptions + 3) await turns();
    assert.is(told.length, before, 'nothing is told that nobody knows');
    written.broken = false;
    written.write('2', 'b');
    while ((await problem()) !== '') await turns();
    assert.equal(told.at(-1), ['a', 'b']);
    written.write('1', 'c');
    await turns();
    assert.equal(told.at(-1), ['ac', 'b']);
  }));

test('it can be stopped while it waits for the log', () =>
  following(async ({ written, keeper }) => {
    written.end();
    await turns();
    await keeper.stop();
    const { subscriptions } = written;
    await turns();
    assert.is(written.subscriptions, subscriptions);
  }));

test.run();
