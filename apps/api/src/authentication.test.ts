import {
  createLog,
  type EventStore,
  type SubscriptionOptions,
  systemClock,
} from '@counterfoil/engine';
import { Problem } from '@counterfoil/kernel';
import { createClocks, createDirectory } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startAuthentication } from './authentication.ts';

const test = suite('authentication');

/** A log without keys that is lost as soon as it has been read. */
const lostLog = {
  async *follow({ onLost, signal }: SubscriptionOptions) {
    yield [{ kind: 'caught_up' }];
    onLost?.(new Error('gone'));
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  },
} as unknown as EventStore;

const followed = () => ({ directory: createDirectory(), clocks: createClocks(systemClock) });

test('keys count no longer than a minute without the log', async () => {
  let now = 0;
  const log = createLog({ level: 'silent', name: 'test' });
  const { authenticate, fold } = startAuthentication(lostLog, followed(), log, {
    clock: () => now,
  });
  await fold.ready;
  await new Promise(setImmediate);
  now = 60_000;
  assert.is(authenticate('sk_unknown'), null);
  now = 60_001;
  try {
    authenticate('sk_unknown');
    assert.unreachable();
  } catch (error) {
    assert.instance(error, Problem);
    assert.is((error as Problem).code, 'service_unavailable');
  }
  await fold.stop();
});

test('a write to a key that this process cannot take over is not called done', async () => {
  const log = createLog({ level: 'silent', name: 'test' });
  const { takenOver, fold } = startAuthentication(lostLog, followed(), log, {
    takeOverMilliseconds: 1,
  });
  await fold.ready;
  await takenOver('wallet', 9n);
  const waiting = takenOver('user', 9n).catch((problem: Problem) => problem.code);
  assert.is(await waiting, 'service_unavailable');
  await fold.stop();
});

test.run();
