import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listeningSession } from '../database/listening-session.ts';
import { startWorld, type TestWorld } from '../projection/test-world.ts';
import { followChannel } from './follow-channel.ts';

const test = suite('following what a channel tells of');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

/** Follows the time of a database, and tells how often it was read. */
function followTime(database: string) {
  let reads = 0;
  const options = { name: 'time', log: { warn: () => undefined }, unread: 'not read yet' };
  const followed = followChannel(listeningSession(database), 'time', options, () => ({
    onHeard: () => false,
    refresh: async (connection) => {
      await connection.query('select now()');
      reads += 1;
    },
  }));
  return { followed, reads: () => reads };
}

test('has begun once it was read, and says so to whoever asks later', async () => {
  const { followed, reads } = followTime(await world.database());
  const { signal } = new AbortController();
  const rejected = await followed.check().then(
    () => null,
    ({ message }) => message,
  );
  assert.is(rejected, 'not read yet');
  await followed.begun(signal);
  assert.is(reads(), 1);
  await followed.check();
  await followed.begun(signal);
  await followed.close();
});

test('whoever waits for the first read goes away with the signal, and others still wait', async () => {
  const { followed } = followTime('postgres://127.0.0.1:1/nowhere');
  const leaving = new AbortController();
  const begun = followed.begun(leaving.signal);
  leaving.abort(new Error('the run is over'));
  const error = await begun.catch((reason) => reason);
  assert.is(error.message, 'the run is over');
  const waiting = Symbol('waiting');
  const other = followed.begun(new AbortController().signal);
  assert.is(await Promise.race([other, Promise.resolve(waiting)]), waiting);
  await followed.close();
});

test.run();
