import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Standstill } from './standstill.ts';

const test = suite('standstill');

test('a turn that comes late tells of a standstill, and the one after it of none', () => {
  let now = 500;
  const standstill = new Standstill(1_000, () => now);
  const turnAfter = (milliseconds: number): boolean => {
    now += milliseconds;
    return standstill.noteTurn();
  };
  const turns = [1_000, 1_250, 1_251, 1_000, 10_000, 900].map(turnAfter);
  assert.equal(turns, [false, false, true, false, true, false]);
  const late = [1_300, 1_300, 1_300, 1_300].map(turnAfter);
  assert.equal(late, [true, false, true, false], 'it is slow, and not silent for ever');
});

test.run();
