import type { AnyAggregate, UniqueValue } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { uniqueChange } from './changes.ts';

const test = suite('changes of unique values');

/** An aggregate whose states are the values that they hold. */
const holder = { unique: (state: readonly UniqueValue[]) => state } as unknown as AnyAggregate;

const held = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b'),
    value: fc.constantFrom('1', '2', '3'),
    problem: fc.constant('taken'),
  }),
  { maxLength: 8 },
);

const isIn = ({ name, value }: UniqueValue, others: readonly UniqueValue[]): boolean =>
  others.some((other) => other.name === name && other.value === value);

/** Each once, however often a state lists it. */
const without = (values: readonly UniqueValue[], others: readonly UniqueValue[]) =>
  values.filter((each, index) => !isIn(each, others) && !isIn(each, values.slice(0, index)));

test('what one state has and the other has not, wherever in the lists it stands', () => {
  fc.assert(
    fc.property(held, held, held, held, (common, before, after, end) => {
      const had = [...common, ...before, ...end];
      const has = [...common, ...after, ...end];
      assert.equal(uniqueChange(holder, had, has), {
        added: without(has, had),
        dropped: without(had, has),
      });
    }),
  );
});

test('of a thousand values that are held only the one that comes or goes is a change', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({
    name: 'key',
    value: String(index),
    problem: 'taken',
  }));
  const fewer = many.filter((_, index) => index !== 500);
  assert.equal(uniqueChange(holder, many, fewer), { added: [], dropped: [many[500]] });
  assert.equal(uniqueChange(holder, fewer, many), { added: [many[500]], dropped: [] });
  assert.equal(uniqueChange(holder, many, many), { added: [], dropped: [] });
});

test.run();
