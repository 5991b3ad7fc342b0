import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createShares } from './shares.ts';

const test = suite('shares');

function recorded() {
  const log: string[] = [];
  const share = createShares(
    (key: string) => {
      log.push(`open ${key}`);
      return { key };
    },
    async ({ key }) => {
      log.push(`close ${key}`);
    },
  );
  return { share, log };
}

test('gives users of one key one value and closes it after the last', async () => {
  const { share, log } = recorded();
  const first = share('a');
  const second = share('a');
  assert.is(first.value, second.value);
  await first.release();
  await first.release();
  assert.equal(log, ['open a']);
  await second.release();
  assert.equal(log, ['open a', 'close a']);
});

test('opens anew after the last has gone, and keeps keys apart', async () => {
  const { share, log } = recorded();
  await share('a').release();
  share('a');
  share('b');
  assert.equal(log, ['open a', 'close a', 'open a', 'open b']);
});

test.run();
