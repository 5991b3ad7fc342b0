import { eventually } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startWorld, type TestWorld } from '../projection/test-world.ts';
import { connect } from './database.ts';
import { listeningSession } from './listening-session.ts';

const test = suite('the session in which a process listens');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

const pidOf = async (connection: Awaited<ReturnType<typeof connect>>): Promise<number> => {
  const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
};

test('those who join share one session, and hear until they leave', async () => {
  const database = await world.database();
  const session = listeningSession(database);
  const [first, second] = await Promise.all([session.join(), session.join()]);
  assert.is(await pidOf(first), await pidOf(second));
  const heard: string[] = [];
  first.onNotification((channel, payload) => heard.push(`first ${channel} ${payload}`));
  second.onNotification((channel, payload) => heard.push(`second ${channel} ${payload}`));
  await first.query('listen news');
  const other = await connect(database, { application: 'test' });
  await other.query(`notify news, '1'`);
  await eventually(() => heard.length === 2);
  await first.close();
  await first.close();
  await other.query(`notify news, '2'`);
  await eventually(() => heard.length === 3);
  assert.equal(heard, ['first news 1', 'second news 1', 'second news 2']);
  await second.close();
  assert.ok(second.lost.aborted, 'it ends with the last who leaves');
  const third = await session.join();
  assert.ok((await pidOf(third)) > 0);
  await Promise.all([third.close(), other.close()]);
});

test('all hear of a loss, and who joins then is in another session', async () => {
  const session = listeningSession(await world.database());
  const [first, second] = await Promise.all([session.join(), session.join()]);
  const before = await pidOf(first);
  await first.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  await eventually(() => first.lost.aborted && second.lost.aborted);
  const again = await session.join();
  assert.is.not(await pidOf(again), before);
  await second.close();
  assert.not.ok(again.lost.aborted, 'who leaves the lost one does not end the new one');
  await again.close();
});

test('who cannot join is told, and may try again', async () => {
  const session = listeningSession('postgres://nobody@127.0.0.1:1/nothing');
  for (const _ of [1, 2]) {
    const failure = await session.join().catch((error: unknown) => error);
    assert.instance(failure, Error);
  }
});

test.run();
