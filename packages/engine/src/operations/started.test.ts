import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startParts } from './started.ts';

const test = suite('parts that are started together');

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: Error) => error.message,
  );

function parts() {
  const stopped: string[] = [];
  return {
    stopped,
    stop: (name: string) => {
      stopped.push(name);
    },
    fail: async (name: string) => {
      stopped.push(name);
      throw new Error(`${name} stays`);
    },
  };
}

test('they are stopped once, the last one first', async () => {
  const { stopped, stop } = parts();
  const running = await startParts(async (started) => {
    started.add('store', stop);
    return { port: 80, server: started.add('server', stop) };
  });
  assert.is(running.server, 'server');
  await Promise.all([running.stop(), running.stop()]);
  assert.equal(stopped, ['server', 'store']);
});

test('one that cannot be stopped does not keep the others running', async () => {
  const { stopped, stop, fail } = parts();
  const running = await startParts(async (started) => {
    started.add('store', stop);
    started.add('relay', fail);
    started.add('server', fail);
    return {};
  });
  assert.is(await failureOf(running.stop()), 'server stays');
  assert.equal(stopped, ['server', 'relay', 'store']);
});

test('a start that fails stops what it had started, and says why it failed', async () => {
  const { stopped, stop, fail } = parts();
  const starting = startParts(async (started) => {
    started.add('store', stop);
    started.add('relay', fail);
    throw new Error('the port is taken');
  });
  assert.is(await failureOf(starting), 'the port is taken');
  assert.equal(stopped, ['relay', 'store']);
});

test.run();
