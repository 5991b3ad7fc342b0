import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tryOperations } from './contract-trials.ts';
import { requestWith, routeKeys } from './examples.ts';
import { assertProblem } from './problem-answer.ts';
import { trialOf } from './trial.ts';

const test = suite('every operation with every kind of input');

const trials = tryOperations(test, routeKeys());

const specification = new URL('../../../../docs/specification/interface.md', import.meta.url);

/** The codes of success that the tables of the specification give, by operation. */
function specifiedCodes(): [string, number][] {
  const rows = readFileSync(specification, 'utf8').matchAll(/^\| (`[^|]+) \| (\d{3}[\d, ]*) \|/gm);
  return [...rows].flatMap(([, operations = '', codes = '']) => {
    const each = codes.split(', ').map(Number);
    const keys = [...operations.matchAll(/`([A-Z]+ \/[^`]+)`/g)].map(([, key = '']) => key);
    return keys.map((key, index): [string, number] => [key, each[index] ?? each[0] ?? 0]);
  });
}

test('a debit that is too much for all wallets together leaves nothing held', async () => {
  const key = 'POST /customers/{id}/debit';
  const { base, watched, send } = await trialOf(trials(), key, 'shortage');
  const answer = await send(requestWith(base, 'body.amount', '999999999'));
  assertProblem(answer, 'invalid_operation');
  assert.equal(await watched.storedThoughRefused(), []);
});

test('the success codes are those of the specification', () => {
  const known = specifiedCodes().filter(([key]) => trials().operations.has(key));
  assert.ok(known.length > 80, `the specification names ${known.length} operations`);
  const codes = known.map(([key]) => [key, trials().operations.get(key)?.success]);
  assert.equal(codes, known);
});

test.run();
