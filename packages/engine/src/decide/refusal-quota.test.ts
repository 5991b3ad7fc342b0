import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RefusalQuota } from './refusal-quota.ts';

const test = suite('quota of remembered refusals');

const problemOf = (work: () => void): Problem | null => {
  try {
    work();
    return null;
  } catch (error) {
    assert.instance(error, Problem);
    return error as Problem;
  }
};

test('a tenant that has used up its number is told the limit and when to come again, others are not', () => {
  const quota = new RefusalQuota({ perHour: 3, now: () => 0 });
  for (let refused = 0; refused < 3; refused += 1) {
    quota.assertLeft('a');
    quota.note('a');
  }
  const problem = problemOf(() => quota.assertLeft('a'));
  assert.is(problem?.code, 'too_many_requests');
  assert.equal(problem?.details, { reason: 'limit_reached', limit: 3 });
  assert.is(problem?.retryAfterSeconds, 1_200);
  quota.assertLeft('b');
});

test('what is used comes back evenly within the hour', () => {
  let time = 0;
  const quota = new RefusalQuota({ perHour: 60, now: () => time });
  for (let refused = 0; refused < 60; refused += 1) quota.note('a');
  assert.ok(problemOf(() => quota.assertLeft('a')));
  time += 61_000;
  quota.assertLeft('a');
  quota.note('a');
  assert.ok(problemOf(() => quota.assertLeft('a')));
  time += 3_600_000;
  for (let refused = 0; refused < 60; refused += 1) {
    quota.assertLeft('a');
    quota.note('a');
  }
});

test.run();
