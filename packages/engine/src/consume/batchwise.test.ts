import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { batchwise } from './batchwise.ts';

const test = suite('work in batches');

/** Letters, each noted when it is read; `!` is a failure. */
function letters(text: string, seen: string[]) {
  return (async function* () {
    for (const letter of text) {
      if (letter === '!') throw new Error('no more to be read');
      seen.push(letter);
      yield letter;
    }
  })();
}

test('a batch is read while the one before it is worked on, and worked on after it', async () => {
  const seen: string[] = [];
  const gates: (() => void)[] = [];
  const done = batchwise(letters('abcdefg', seen), 2, async (batch) => {
    seen.push(`<${batch.join('')}`);
    await new Promise<void>((resolve) => gates.push(resolve));
    seen.push(`${batch.join('')}>`);
  });
  for (let batch = 0; batch < 4; batch += 1) {
    while (gates.length <= batch) await new Promise(setImmediate);
    gates[batch]?.();
  }
  await done;
  assert.is(seen.join(' '), 'a b <ab c d ab> <cd e f cd> <ef g ef> <g g>');
});

test('what was read before a failure is worked on', async () => {
  const taken: string[] = [];
  const done = batchwise(letters('abc!', []), 2, async (batch) => {
    taken.push(batch.join(''));
  });
  assert.is(await done.catch((error) => error.message), 'no more to be read');
  assert.equal(taken, ['ab', 'c']);
});

test('nothing is worked on after work that failed', async () => {
  const taken: string[] = [];
  const done = batchwise(letters('abcdef', []), 2, async (batch) => {
    taken.push(batch.join(''));
    throw new Error(`${batch.join('')} is too much`);
  });
  assert.is(await done.catch((error) => error.message), 'ab is too much');
  assert.equal(taken, ['ab']);
});

test.run();
