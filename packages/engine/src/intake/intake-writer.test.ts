import { type EnvironmentId, type Instant, Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { intake } from '../define/intake.ts';
import { ChainedEvent } from '../log/hash-chain.ts';
import { AppendError, type AppendFailure, type EventStore, type NewEvent } from '../log/types.ts';
import { IntakeWriter } from './intake-writer.ts';

const test = suite('recording facts');

const readings = intake({ name: 'reading', eventType: 'ReadingReceived', fact: z.unknown() });
const environment = 'env_1' as EnvironmentId;
const causeOf = (key: string) => ({
  tenantId: 'tenant_1',
  environmentId: environment,
  actor: { user_id: null, key_id: key as never },
  correlationId: `req_${key}`,
  causationId: `req_${key}`,
});

interface Append {
  readonly stream: string;
  readonly revision: number;
  readonly facts: readonly string[][];
}

/** A store that answers when it is told to, with the failures that it was given in turn. */
function fakeStore(failures: (AppendFailure | null)[] = []) {
  const appends: Append[] = [];
  const heads = new Map<string, number>();
  let held: PromiseWithResolvers<void> | null = null;
  const append: EventStore['append'] = async (stream, events, revision) => {
    const facts = events.map((event) => factsIn(event));
    appends.push({ stream, revision, facts });
    await held?.promise;
    const failure = failures.shift() ?? null;
    if (failure) throw new AppendError(failure, 'as the test wants it');
    assert.is(heads.get(stream) ?? -1, revision, 'the revision that is expected');
    heads.set(stream, revision + events.length);
    return { revision: revision + events.length, position: BigInt(appends.length) };
  };
  const hold = () => {
    held = Promise.withResolvers();
    return () => {
      held?.resolve();
      held = null;
    };
  };
  return { appends, append, hold };
}

const factsIn = (event: NewEvent): string[] =>
  JSON.parse(ChainedEvent.textsOf(event)?.data ?? '').facts;

const writerOn = (store: Pick<EventStore, 'append'>, now = '2026-01-01T00:00:00.000Z') => {
  const clock = { now: () => now as Instant };
  return new IntakeWriter({ store, clock });
};

const record = (writer: IntakeWriter, key: string, ...facts: unknown[]) =>
  writer.record(
    readings,
    environment,
    causeOf(key),
    facts.map((fact) => JSON.stringify(fact)),
  );

test('facts that come while an append is under way go out together as the next one', async () => {
  const store = fakeStore();
  const writer = writerOn(store);
  const release = store.hold();
  const first = record(writer, 'a', 1);
  await Promise.resolve();
  const others = [record(writer, 'a', 2, 3), record(writer, 'b', 4), record(writer, 'a', 5)];
  release();
  assert.is(await first, 1n);
  assert.equal(await Promise.all(others), [2n, 2n, 2n]);
  // One event for each caller, so that it is known who sent what.
  assert.equal(
    store.appends.map(({ facts }) => facts),
    [[[1]], [[2, 3, 5], [4]]] as unknown,
  );
  assert.equal(
    store.appends.map(({ revision }) => revision),
    [-1, 0],
  );
});

test('after an append of unknown outcome the same facts go to another stream', async () => {
  const store = fakeStore(['unknown_outcome']);
  await record(writerOn(store), 'a', 1);
  const [first, second] = store.appends;
  assert.not.equal(first?.stream, second?.stream);
  assert.equal(second?.facts, [[1]] as unknown);
  assert.is(second?.revision, -1);
});

test('what is never confirmed is 503, and what the store cannot be reached for is not tried again', async () => {
  const unknown = fakeStore(['unknown_outcome', 'unknown_outcome', 'unknown_outcome']);
  const away = fakeStore(['unavailable']);
  for (const [store, tries] of [
    [unknown, 3],
    [away, 1],
  ] as const) {
    const error = await record(writerOn(store), 'a', 1).catch((reason: unknown) => reason);
    assert.ok(error instanceof Problem && error.code === 'service_unavailable');
    assert.is(store.appends.length, tries);
  }
  await record(writerOn(away), 'a', 2);
});

test('a request too large for one append goes out as several, and ends with the last', async () => {
  const store = fakeStore();
  const large = 'x'.repeat(300 * 1024);
  const position = await record(writerOn(store), 'a', large, large, large, large, large);
  assert.equal(
    store.appends.map(({ facts }) => facts.flat().length),
    [2, 2, 1],
  );
  assert.is(position, 3n);
});

test('each day begins a stream', async () => {
  const store = fakeStore();
  let now = '2026-01-01T23:59:59.000Z';
  const writer = new IntakeWriter({ store, clock: { now: () => now as Instant } });
  await record(writer, 'a', 1);
  now = '2026-01-02T00:00:00.000Z';
  await record(writer, 'a', 2);
  assert.is(new Set(store.appends.map(({ stream }) => stream)).size, 2);
});

test.run();
