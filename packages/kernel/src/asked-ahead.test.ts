import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { askedAhead } from './asked-ahead.ts';

const test = suite('questions that are asked ahead');

/** Questions that end when they are told to, each with its own number or an error. */
function questions() {
  const asked: number[] = [];
  const open = new Map<number, { readonly end: (error?: Error) => void }>();
  let most = 0;
  const ask = (number: number): Promise<number> => {
    asked.push(number);
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => {
        open.delete(number);
        if (error) reject(error);
        else resolve(number);
      };
      open.set(number, { end });
      most = Math.max(most, open.size);
    });
  };
  const end = (number: number, error?: Error) => open.get(number)?.end(error);
  return { asked, open, ask, end, most: () => most };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('answers come in their order, whichever is there first, and no more are asked for at once', async () => {
  const { ask, end, asked, most } = questions();
  const got: number[] = [];
  const all = (async () => {
    for await (const answer of askedAhead([0, 1, 2, 3, 4], 3, ask)) got.push(answer);
  })();
  await turn();
  assert.equal(asked, [0, 1, 2]);
  end(2);
  end(1);
  await turn();
  assert.equal([got, asked], [[], [0, 1, 2]]);
  end(0);
  await turn();
  assert.equal(
    [got, asked],
    [
      [0, 1, 2],
      [0, 1, 2, 3, 4],
    ],
  );
  end(4);
  end(3);
  await all;
  assert.equal([got, most()], [[0, 1, 2, 3, 4], 3]);
});

test('as many are under way as may be, however slow the others are', async () => {
  const { ask, end, asked } = questions();
  const answers = askedAhead([0, 1, 2, 3, 4, 5], 3, ask);
  const first = answers.next();
  await turn();
  end(0);
  await first;
  const second = answers.next();
  await turn();
  assert.equal(asked, [0, 1, 2, 3]);
  for (const number of [1, 2, 3]) end(number);
  await second;
  await answers.return();
});

test('one at once is asked for when it is waited for', async () => {
  const { ask, end, asked } = questions();
  const answers = askedAhead([0, 1], 1, ask);
  const first = answers.next();
  await turn();
  end(0);
  assert.equal(await first, { value: 0, done: false });
  await turn();
  assert.equal(asked, [0]);
  await answers.return();
  assert.equal(asked, [0]);
});

test('the first error in the order is the one that is told, and nothing is left under way', async () => {
  const { ask, end, asked, open } = questions();
  const told = (async () => {
    for await (const _ of askedAhead([0, 1, 2, 3], 3, ask)) assert.unreachable();
  })();
  let message = '';
  const ended = told.catch((error: Error) => {
    message = error.message;
  });
  await turn();
  end(1, new Error('second'));
  end(0, new Error('first'));
  await turn();
  assert.is(message, '', 'the last one is waited for');
  end(2);
  await ended;
  assert.equal([message, asked, open.size], ['first', [0, 1, 2], 0]);
});

test('who stops listening drops what was asked ahead, errors too', async () => {
  const { ask, end, asked } = questions();
  const listening = (async () => {
    for await (const answer of askedAhead([0, 1, 2], 2, ask)) if (answer === 0) break;
  })();
  await turn();
  end(0);
  end(1, new Error('nobody hears it'));
  await listening;
  assert.equal(asked, [0, 1]);
});

test('nothing is asked for nothing', async () => {
  const { ask, asked } = questions();
  for await (const _ of askedAhead([], 4, ask)) assert.unreachable();
  assert.equal(asked, []);
});

test.run();
