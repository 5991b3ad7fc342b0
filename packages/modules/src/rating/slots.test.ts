import type { WindowSize } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { slotAt, slotFault } from './slots.ts';

const test = suite('parts of the day');

/** Slots as hours, `9-12 22-2`. */
const slots = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map((slot) => slot.split('-').map((hour) => Number(hour) * 60))
    .map(([from_minute = 0, to_minute = 0]) => ({ from_minute, to_minute }));

for (const [text, size, fault] of [
  ['', 'MONTH', null],
  ['9-12 12-14', 'HOUR', null],
  ['9-12 22-2', '15MIN', null],
  ['0-24', 'DAY', null],
  ['6-6', 'HOUR', null],
  ['9-12', '3HOUR', null],
  ['9-12 11-14', 'HOUR', /overlap/],
  ['22-2 1-3', 'HOUR', /overlap/],
  ['0-24 3-4', 'MINUTE', /overlap/],
  ['9-12.5', 'HOUR', /60 minutes/],
  ['10-13', '3HOUR', /180 minutes/],
  ['9-12', 'DAY', /1440 minutes/],
  ['0-24', 'WEEK', /no part of a day/],
  ['9-25', 'HOUR', /from 0 to 1440/],
  ['9-12.001', 'MINUTE', /from 0 to 1440/],
] as const satisfies readonly (readonly [string, WindowSize, RegExp | null])[]) {
  test(`${text || 'none'} with windows of ${size}`, () => {
    const found = slotFault(slots(text), size);
    if (fault === null) assert.is(found, null);
    else assert.match(found ?? '', fault);
  });
}

test('a minute lies in the slot that it begins, and not in the one that it ends', () => {
  const parts = slots('9-12 22-2');
  const places = [8, 9, 11, 12, 21, 22, 23, 0, 1, 2].map((hour) => slotAt(parts, hour * 60));
  assert.equal(places, [-1, 0, 0, -1, -1, 1, 1, 1, 1, -1]);
});

test.run();
