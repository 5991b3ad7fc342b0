import type { FillSession } from '@counterfoil/engine/define';
import { type Instant, Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregationSchema } from '../../meters/index.ts';
import type { PropertyFilters } from '../aggregation/measure.ts';
import { environmentId, type LogItem } from '../roll-ups/test-histories.ts';
import { assertSame } from '../roll-ups/test-questions.ts';
import { startTestDatabase, type TestDatabase } from '../roll-ups/test-tables.ts';
import { usageTables } from '../tables.ts';
import { usageOf } from '../usage-query.ts';
import type { UsageQuestion } from '../usage-question.ts';
import { answerOf, assertHistories, World } from './test-world.ts';

const test = suite('months that are dropped and come back');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

test('whatever is dropped, an answer is that of a fold over all events, or says what it lacks', () =>
  assertHistories(database, 8));

/** A session that is lost at its statement of a number, and whether it came so far. */
function lostAt(session: FillSession, number: number) {
  let left = number;
  const lost = { ...session, isLost: false };
  lost.query = (text, values) => {
    left -= 1;
    if (left >= 0) return session.query(text, values);
    lost.isLost = true;
    return Promise.reject(new Error('lost'));
  };
  return lost;
}

const place = { tenantId: 'tenant_1', environmentId };
const stamp = { occurred_at: '2026-11-01T00:00:00.000Z' };
const recordOf = (position: string, aggregate: string, type: string, id: string, data: object) =>
  ({
    ...{ kind: 'record', ...place },
    event: { type, data, stamp, aggregate, aggregate_id: id, position },
  }) as unknown as LogItem;
const factsOf = (position: string, ...facts: readonly object[]) =>
  ({
    ...{ kind: 'facts', ...place, position },
    ...{ recordedAt: stamp.occurred_at, facts },
  }) as unknown as LogItem;
const call = (event_id: string, timestamp: string, v: number) => ({
  ...{ event_id, event_name: 'calls', external_customer_id: 'acme', timestamp },
  properties: { v },
});

const aggregation = aggregationSchema.parse({ type: 'MAX', field: 'v' });
const meterOf = (position: string, id: string, filters: PropertyFilters) =>
  recordOf(position, 'meter', 'MeterCreated', id, { event_name: 'calls', aggregation, filters });
const voidOf = (position: string, event_id: string) =>
  recordOf(position, 'usage_void', 'UsageVoided', event_id, { event_id, reason: null });

const early: readonly LogItem[] = [
  recordOf('10', 'customer', 'CustomerCreated', 'customer_1', { external_id: 'acme' }),
  meterOf('20', 'meter_1', []),
  factsOf('30', call('a', '2026-10-01T00:10:00.000Z', 3), call('b', '2026-10-01T00:20:00.000Z', 9)),
  factsOf('40', call('c', '2026-10-02T00:30:00.000Z', 5), call('d', '2026-11-01T00:00:00.000Z', 1)),
];

/** The greatest value of the meter without filters, or of another one, from an instant of October on. */
const greatest = (start: string, filters: PropertyFilters = []): UsageQuestion => ({
  of: { eventName: 'calls', customer: { kind: 'customer', id: 'customer_1' } },
  ...{ aggregation, filters, zone: 'UTC', windows: null, fills: false },
  span: { start: start as Instant, end: '2026-11-01T00:00:00.000Z' as Instant },
});
const firstDay = greatest('2026-10-01T00:00:00.000Z');
const secondDay = greatest('2026-10-02T00:00:00.000Z');

/** The answer of the tables: a figure, or the reason of a refusal. */
async function told({ tables }: World, question: UsageQuestion): Promise<string | null> {
  const answer = await answerOf(tables, question);
  return answer instanceof Problem ? String(answer.details?.reason) : answer.value;
}

test('what is taken back while its month is dropped has no figure until the month is back', async () => {
  const world = await World.make(database, 'voids');
  try {
    await world.take(early);
    await world.complete();
    await world.drop('2026-10');
    assert.is(await told(world, firstDay), '9');
    assert.is(await told(world, greatest('2026-10-01T00:15:00.000Z')), 'no_longer_kept');
    assert.equal(
      (await world.months()).map(({ isNeeded }) => isNeeded),
      [false, false],
    );

    await world.take([voidOf('50', 'b'), factsOf('60', call('e', '2026-10-01T01:00:00.000Z', 4))]);
    assert.is(await told(world, firstDay), 'no_longer_kept');
    assert.is(await told(world, secondDay), '5');
    assert.is(await told(world, greatest('2026-10-01T01:00:00.000Z')), '5');
    assert.equal(
      (await world.months()).map(({ isNeeded }) => isNeeded),
      [true, false],
    );
    await world.assertVerified();

    await world.refill('2026-10', 4);
    assert.is(await told(world, firstDay), '5');
    assert.is(await told(world, greatest('2026-10-01T00:15:00.000Z')), '5');
    await assertSame(world.tables, world.plain);
  } finally {
    await world.end();
  }
});

test('a meter that comes later has a month when it is filled again, and the others before', async () => {
  const world = await World.make(database, 'later');
  const filters = [{ key: 'v', values: ['3', '5'] }];
  try {
    await world.take(early);
    await world.complete();
    await world.drop('2026-10');
    await world.take([meterOf('50', 'meter_2', filters)]);
    await world.complete();
    assert.is(await told(world, greatest('2026-10-01T00:00:00.000Z', filters)), 'no_longer_kept');
    // Before the first event of the month that is dropped there was none.
    const before = greatest('2026-09-01T00:00:00.000Z', filters);
    const { span } = before;
    const until = { ...before, span: { ...span, end: '2026-10-01T00:00:00.000Z' as Instant } };
    assert.is(await told(world, until), null);
    await world.refill('2026-10', 0);
    assert.is(await told(world, greatest('2026-10-01T00:00:00.000Z', filters)), '5');
    await assertSame(world.tables, world.plain);
  } finally {
    await world.end();
  }
});

test('another environment has nothing of what is dropped, and is told nothing of it', async () => {
  const world = await World.make(database, 'others');
  try {
    await world.take(early);
    await world.complete();
    await world.drop('2026-10');
    const others = world.tables.context('env_2');
    assert.is((await usageOf(others, greatest('2026-10-01T00:15:00.000Z'))).value, null);
    const seen = (context: typeof others) =>
      context.facts.query(usageTables, (from) =>
        from.selectFrom('dropped_usage').select('dropped_usage.month'),
      );
    assert.equal(await seen(others), []);
    assert.equal(await seen(world.tables.context(environmentId)), [{ month: '2026-10' }]);
  } finally {
    await world.end();
  }
});

test('broken off at any of its statements, a month is there as a whole or not at all', async () => {
  const world = await World.make(database, 'broken');
  try {
    await world.take(early);
    await world.complete();
    const { session } = world.tables;
    const breakOff = async (
      work: (broken: FillSession) => Promise<void>,
      assertUnchanged: () => Promise<void>,
    ): Promise<void> => {
      for (let statement = 0; ; statement += 1) {
        const broken = lostAt(session, statement);
        await work(broken).catch((error: Error) => {
          if (error.message !== 'lost') throw error;
        });
        if (!broken.isLost) return assert.ok(statement > 3);
        await assertUnchanged();
        await world.assertVerified();
      }
    };
    const edge = greatest('2026-10-01T00:15:00.000Z');
    await breakOff(
      (broken) => world.drop('2026-10', broken),
      async () => assert.is(await told(world, edge), '9'),
    );
    await world.take([voidOf('50', 'b'), meterOf('60', 'meter_2', [])]);
    await world.complete();
    await breakOff(
      (broken) => world.refill('2026-10', 4, broken),
      async () => {
        assert.is(await told(world, edge), 'no_longer_kept');
        assert.is(await told(world, firstDay), 'no_longer_kept');
        assert.is(await told(world, secondDay), '5');
      },
    );
    assert.is(await told(world, firstDay), '5');
    await assertSame(world.tables, world.plain);
  } finally {
    await world.end();
  }
});

test.run();
