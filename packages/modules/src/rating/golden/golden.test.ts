import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { currentRules, rate, rateCommitment } from '../rate.ts';
import { exampleCommitments, exampleLines } from './examples.ts';
import { goldenLines } from './lines.ts';

const test = suite('golden lines');
const golden = goldenLines();

/** As it is stored. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const each of golden) {
  test(`${each.name}, by rules ${each.rules}`, () => {
    const rated =
      'line' in each ? rate(each.line, each.rules) : rateCommitment(each.commitment, each.rules);
    assert.equal(stored(rated), each.rated);
  });
}

test('every example is among them, as it is asked today', () => {
  const examples = { ...exampleLines, ...exampleCommitments };
  const asked = golden
    .filter(({ rules }) => rules === currentRules)
    .map((each) => [each.name, 'line' in each ? each.line : each.commitment]);
  assert.equal(stored(examples), Object.fromEntries(asked));
});

test.run();
