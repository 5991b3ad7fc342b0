import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregationSchema, aggregationTypeSchema } from '../meters/index.ts';
import { usageQuestionSchema } from './usage-schema.ts';

const test = suite('questions about usage');

const members = [
  { question: { property_name: 'count' }, meter: { field: 'count' } },
  { question: { multiplier: '1.5' }, meter: { multiplier: '1.5' } },
  { question: { bucket_size: 'DAY' }, meter: { bucket_size: 'DAY' } },
  { question: { group_by_property: 'model' }, meter: { group_by: 'model' } },
];

for (const type of aggregationTypeSchema.options) {
  test(`${type} takes in a question what it takes in a meter`, () => {
    for (let chosen = 0; chosen < 2 ** members.length; chosen += 1) {
      const some = members.filter((_member, index) => (chosen >> index) % 2 === 1);
      const asked = Object.assign({}, ...some.map(({ question }) => question));
      const aggregation = Object.assign({ type }, ...some.map(({ meter }) => meter));
      const question = { event_name: 'tokens', aggregation_type: type, ...asked };
      assert.is(
        usageQuestionSchema.safeParse(question).success,
        aggregationSchema.safeParse(aggregation).success,
        JSON.stringify(question),
      );
    }
  });
}

test('a multiplier is above zero', () => {
  const question = {
    event_name: 'tokens',
    aggregation_type: 'SUM_WITH_MULTIPLIER',
    property_name: 'a',
  };
  assert.ok(usageQuestionSchema.safeParse({ ...question, multiplier: '0.1' }).success);
  for (const multiplier of ['0', 0, '-1']) {
    assert.not.ok(usageQuestionSchema.safeParse({ ...question, multiplier }).success);
  }
});

test.run();
