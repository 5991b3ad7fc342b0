import type { ShownPart } from '@counterfoil/engine';
import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OperatorError } from '../settings.ts';
import { chosenMonths, describedMonth } from './months.ts';

const test = suite('months of usage on the command line');

const march: ShownPart = {
  ...{ name: '2026-03', relation: 'event_2026_03', end: '2026-04-01T00:00:00.000Z' as Instant },
  ...{ isDropped: false, isNeeded: false, wish: null, problem: null, bytes: 1_234_567n },
};
const known = [march, { ...march, name: '2026-04' }];

test('months are named as people write them, each once', () => {
  assert.equal(chosenMonths(['2026-04', '2026-03', '2026-04'], known), ['2026-03', '2026-04']);
});

test('a month that has not ended is not dropped', () => {
  const now = '2026-03-31T23:59:59.999Z' as Instant;
  assert.throws(() => chosenMonths(['2026-03'], known, now), /has not ended/);
  assert.equal(chosenMonths(['2026-03'], known, march.end), ['2026-03']);
});

for (const [name, message] of [
  ['2026-13', '"2026-13" is no month: write 2026-03.'],
  ['march', '"march" is no month: write 2026-03.'],
  [
    '2026-05',
    'There is no month 2026-05 among those of usage: counterfoil usage months lists them.',
  ],
] as const) {
  test(`${name} is refused`, () => {
    assert.throws(
      () => chosenMonths([name], known),
      (error: Error) => error instanceof OperatorError && error.message === message,
    );
  });
}

for (const [line, part] of [
  ['2026-03: kept, 1.2 MB', {}],
  ['2026-03: kept, 1.2 MB; whatever its age', { wish: 'kept' }],
  [
    '2026-03: kept, 1.2 MB; to be dropped; a meter is being completed',
    { wish: 'dropped', problem: 'a meter is being completed' },
  ],
  ['2026-03: dropped', { isDropped: true, wish: 'dropped' }],
  ['2026-03: dropped; to be filled again', { isDropped: true, wish: 'kept' }],
  [
    '2026-03: dropped; needed for an event that was voided',
    { isDropped: true, isNeeded: true, wish: 'dropped' },
  ],
] as const) {
  test(`a month is told as "${line}"`, () =>
    assert.is(describedMonth({ ...march, ...part }), line));
}

test.run();
