import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { command, jar, rename, startOn } from '../decide/test-jar.ts';
import { placeOf } from './stream-state.ts';

const test = suite('the weight of a stream');

/** The weight of a jar after it was given names of some lengths, one after the other. */
async function weightAfter(lengths: readonly number[]): Promise<number> {
  const { streams, writer } = startOn(new MemoryStore());
  for (const [index, length] of lengths.entries()) {
    await writer().run(command(rename(`${index}${'x'.repeat(length)}`)));
  }
  return streams.cache.of(placeOf(jar, 'env_1', '1')).weigh();
}

test('has what a large event has added to the state', async () => {
  assert.ok((await weightAfter([100])) < 10_000);
  assert.ok((await weightAfter([100, 200_000])) > 200_000);
});

test('does not add up events that take the place of one another', async () => {
  assert.ok((await weightAfter(Array.from({ length: 100 }, () => 10_000))) < 60_000);
});

test.run();
