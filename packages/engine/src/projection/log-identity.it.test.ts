import { cp } from 'node:fs/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Position } from '../log/types.ts';
import { verifyReadModel } from '../verification/verify.ts';
import { ForeignLog } from './log-identity.ts';
import { startProjector } from './projector.ts';
import { discardReadModel, ProjectorActive } from './rebuild.ts';
import {
  acme,
  added,
  bolt,
  dump,
  opened,
  type Pen,
  silentLog,
  startLog,
  startWorld,
  type TestLog,
  type TestWorld,
  allTables as tables,
  until,
  untilLive,
  withProjector,
} from './test-world.ts';

const test = suite('identity of the log');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

async function writeSome(pen: Pen): Promise<Position> {
  let last = 0n;
  for (let index = 0; index < 6; index += 1) {
    const owner = index % 2 ? acme : bolt;
    last = await pen.write(`c${index}`, [opened(`n${index}`), added(index)], owner);
  }
  return last;
}

/** Asserts that every part refuses a log that is not the one that the rows came from. */
async function assertRefused(log: TestLog, database: string, message: RegExp): Promise<void> {
  const before = await dump(database, 'counters');
  await withProjector({ store: log.store, database, tables }, async (projector) => {
    await until('it refuses', () => projector.status().state === 'refused');
    assert.match(projector.status().error ?? '', message);
  });
  const failure = await verifyReadModel({ store: log.store, database, tables }).catch(
    (error: unknown) => error,
  );
  assert.instance(failure, ForeignLog);
  assert.equal(await dump(database, 'counters'), before);
}

test('a restored older log is refused, also when it has been written to since', async () => {
  const log = await world.log();
  const database = await world.database();
  await writeSome(log.pen);
  await log.close();
  const copy = `${log.directory}_copy`;
  await cp(log.directory, copy, { recursive: true });
  const newer = await startLog(log.directory);
  const last = await newer.pen.write('late', [opened('late'), added(1), added(2)]);
  await withProjector({ store: newer.store, database, tables }, (p) => untilLive(p, last));
  await newer.close();
  const older = await startLog(copy);
  await assertRefused(older, database, /ends before event counter-env_acme.late@2/);
  await older.pen.write('late', [opened('other'), added(7), added(8), added(9)]);
  await assertRefused(older, database, /its event counter-env_acme.late@2 is another/);
  await older.close();
});

test('a log that lost what the filter passed over is refused once it is written to', async () => {
  const log = await world.log();
  const database = await world.database();
  const last = await writeSome(log.pen);
  await log.close();
  const copy = `${log.directory}_copy`;
  await cp(log.directory, copy, { recursive: true });
  const newer = await startLog(log.directory);
  await withProjector({ store: newer.store, database, tables }, async (projector) => {
    await untilLive(projector, last);
    for (let index = 0; index < 40; index += 1) {
      await newer.pen.write(`m${index}`, [{ type: 'Joined', data: {} }], acme, 'member');
    }
    assert.ok(await projector.projected.waitFor(last + 1n, 20_000), 'a checkpoint came');
  });
  await newer.close();
  const older = await startLog(copy);
  await older.pen.write('new', [opened('new')]);
  await withProjector({ store: older.store, database, tables }, async (projector) => {
    await until('it refuses', () => projector.status().state === 'refused');
    assert.match(projector.status().error ?? '', /counter-env_acme.new@0 .* was not there/);
  });
  await older.close();
});

test('another log is refused until the read models are discarded', async () => {
  const own = await world.log();
  const database = await world.database();
  const position = await writeSome(own.pen);
  await withProjector({ store: own.store, database, tables }, (p) => untilLive(p, position));
  const other = await world.log();
  const last = await other.pen.write('c9', [opened('nine')]);
  await assertRefused(other, database, /The event log is not the one/);
  await discardReadModel(database);
  await withProjector({ store: other.store, database, tables }, async (projector) => {
    await untilLive(projector, last);
    assert.is((await dump(database, 'counters')).length, 1);
    const failure = await discardReadModel(database).catch((error: unknown) => error);
    assert.instance(failure, ProjectorActive);
  });
});

test('a log that is exchanged under a running projector is refused', async () => {
  const log = await world.log();
  const database = await world.database();
  await writeSome(log.pen);
  await log.close();
  const copy = `${log.directory}_copy`;
  await cp(log.directory, copy, { recursive: true });
  const newer = await startLog(log.directory);
  const older = await startLog(copy);
  // The store that the projector knows is cut off once and is another one from then on.
  let current = newer.store;
  const cut = new AbortController();
  const store = {
    ...newer.store,
    readStream: (...given: Parameters<typeof current.readStream>) => current.readStream(...given),
    async *follow(...[options, maximum]: Parameters<typeof current.follow>) {
      const signal = AbortSignal.any([options.signal, cut.signal]);
      yield* newer.store.follow({ ...options, signal }, maximum);
      current = older.store;
      if (!options.signal.aborted) yield* older.store.follow(options, maximum);
    },
  };
  const projector = startProjector({ store, database, tables, log: silentLog });
  await untilLive(projector, await newer.pen.write('late', [opened('late')]));
  cut.abort();
  await until('it refuses', () => projector.status().state === 'refused');
  assert.match(projector.status().error ?? '', /ends before event counter-env_acme.late@0/);
  await projector.stop();
  await newer.close();
  await older.close();
});

test.run();
