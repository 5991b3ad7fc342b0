import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Position } from '../log/types.ts';
import {
  acme,
  added,
  allTables,
  bolt,
  counters,
  countersSecond,
  members,
  opened,
  startWorld,
  statement,
  type TestWorld,
  untilLive,
  withProjector,
} from '../projection/test-world.ts';
import { type VerifyOptions, verifyReadModel } from './verify.ts';

const test = suite('verification of a running system');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

const tables = [...allTables, members];

/** A log with six counters of two environments and a member, and a database that was filled from it. */
async function filled() {
  const log = await world.log();
  const database = await world.database();
  for (let index = 0; index < 6; index += 1) {
    const owner = index % 2 ? acme : bolt;
    await log.pen.write(`c${index}`, [opened(`n${index}`, { labels: ['l'] }), added(index)], owner);
  }
  const joined = [{ type: 'Joined', data: { name: 'Ann' } }];
  const position = await log.pen.write('m1', joined, acme, 'member');
  const project = (upTo: Position, shown: VerifyOptions['tables'] = tables) =>
    withProjector({ store: log.store, database, tables: [...shown] }, (projector) =>
      untilLive(projector, upTo),
    );
  await project(position);
  const verify = (more: Partial<VerifyOptions> = {}) =>
    verifyReadModel({ store: log.store, database, tables, ...more });
  return { log, database, position, project, verify };
}

test('holds no snapshot while it folds, and compares what was written meanwhile as well', async () => {
  const { verify, database, log, project } = await filled();
  const held: unknown[] = [];
  let last: Position = 0n;
  const report = await verify({
    batchMaximum: 5,
    pace: async () => {
      held.push(
        ...(await statement(
          database,
          `select backend_xmin, state from pg_stat_activity
            where application_name = 'counterfoil verify' and datname = current_database()
              and (backend_xmin is not null or xact_start is not null)`,
        )),
      );
      await log.pen.write('c1', [added(1)], acme);
      last = await log.pen.write(`new${last}`, [opened('new'), added(2)], bolt);
      await project(last);
    },
  });
  assert.equal(held, []);
  assert.ok(last > 0n);
  assert.is(report.position, last);
  assert.equal([report.differences, report.skipped], [[], []]);
  assert.is(report.events, 13 + 3 * 3);
});

test('a change that was made behind its back while it folded is found', async () => {
  const { verify, database } = await filled();
  let isFirst = true;
  const { differences } = await verify({
    batchMaximum: 5,
    pace: async () => {
      if (!isFirst) return;
      isFirst = false;
      await statement(database, `update counterfoil.counters_v1 set total = 7 where id = 'c0'`);
    },
  });
  assert.equal(
    differences.map(({ id, path }) => `${id} ${path}`),
    ['c0 total'],
  );
});

test('a table that readers see no more is told of and not compared', async () => {
  const { verify, project, position } = await filled();
  const second = tables.map((table) => (table === counters ? countersSecond : table));
  let isFirst = true;
  const report = await verify({
    batchMaximum: 5,
    pace: async () => {
      if (isFirst) await project(position, second);
      isFirst = false;
    },
  });
  assert.equal(report.differences, []);
  assert.equal(
    report.skipped.map(({ table }) => table),
    [counters.name],
  );
});

test.run();
