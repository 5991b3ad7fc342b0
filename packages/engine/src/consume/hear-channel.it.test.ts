import { eventually } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connect } from '../database/database.ts';
import { listeningSession } from '../database/listening-session.ts';
import { startWorld, type TestWorld } from '../projection/test-world.ts';
import { hearChannel } from './hear-channel.ts';

const test = suite('hearing what is said on a channel');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

test('tells when listening begins, of each notification of its channel, and again after a loss', async () => {
  const database = await world.database();
  const session = listeningSession(database);
  const stopping = new AbortController();
  const { signal } = stopping;
  let heard = 0;
  const onHeard = () => {
    heard += 1;
  };
  const log = { warn: () => undefined };
  const hearing = hearChannel(session, 'news', { name: 'news', log, signal, onHeard });
  await eventually(() => heard === 1);
  const other = await connect(database, { application: 'test' });
  const member = await session.join();
  await member.query('listen elsewhere');
  await other.query('notify elsewhere');
  await other.query('notify news');
  await eventually(() => heard === 2);
  await member.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  await eventually(() => heard === 3);
  await other.query('notify news');
  await eventually(() => heard === 4);
  stopping.abort();
  await Promise.all([hearing, member.close(), other.close()]);
});

test('resolves where it is to end before it begins', async () => {
  const session = listeningSession(await world.database());
  const onHeard = () => assert.unreachable();
  const log = { warn: () => undefined };
  await hearChannel(session, 'news', { name: 'news', log, signal: AbortSignal.abort(), onHeard });
});

test.run();
