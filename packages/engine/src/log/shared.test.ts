import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { shared } from './shared.ts';

const test = suite('a read that many ask for');

/** A read whose runs end when they are told to, each with its number. */
function readOf() {
  const begun: { readonly end: () => void; readonly fail: () => void }[] = [];
  const ask = shared(() => {
    const number = begun.length + 1;
    return new Promise<number>((resolve, reject) => {
      const fail = () => reject(new Error(`${number}`));
      begun.push({ end: () => resolve(number), fail });
    });
  });
  /** Ends a run, which must have begun, once it has. */
  const end = async (number: number): Promise<void> => {
    while (begun.length < number) await Promise.resolve();
    begun[number - 1]?.end();
  };
  return { ask, begun, end };
}

test('who asks while one is under way shares the next with all who do', async () => {
  const { ask, begun, end } = readOf();
  const first = ask();
  const others = [ask(), ask(), ask()];
  assert.is(begun.length, 1);
  await end(1);
  assert.is(await first, 1);
  await end(2);
  assert.equal(await Promise.all(others), [2, 2, 2]);
  assert.is(begun.length, 2);
});

test('nobody is given one that began before they asked', async () => {
  const { ask, begun, end } = readOf();
  const answers = [ask()];
  for (let number = 1; number <= 3; number += 1) {
    answers.push(ask());
    await end(number);
    await answers.at(-2);
  }
  await end(4);
  assert.equal(await Promise.all(answers), [1, 2, 3, 4]);
  assert.is(begun.length, 4);
});

test('one that fails takes with it those who share it, and nobody after them', async () => {
  const { ask, begun, end } = readOf();
  const first = ask().catch(({ message }: Error) => message);
  const second = ask();
  begun[0]?.fail();
  assert.is(await first, '1');
  await end(2);
  assert.is(await second, 2);
  const third = ask();
  await end(3);
  assert.is(await third, 3);
});

test.run();
