import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hourAfter, hourFrom, hourOf } from './hours.ts';

const test = suite('hours of usage');

const at = (text: string): Instant => text as Instant;

test('an instant lies in an hour, and the next one begins at it or after it', () => {
  assert.is(hourOf(at('2026-02-28T23:59:59.999Z')), '2026-02-28T23:00:00.000Z');
  assert.is(hourAfter(at('2026-02-28T23:00:00.000Z')), '2026-03-01T00:00:00.000Z');
  assert.is(hourFrom(at('2026-02-28T23:00:00.000Z')), '2026-02-28T23:00:00.000Z');
  assert.is(hourFrom(at('2026-02-28T23:00:00.001Z')), '2026-03-01T00:00:00.000Z');
});

test('there is no whole hour left in the last one of all', () => {
  const last = at('9999-12-31T23:59:59.999Z');
  assert.ok(hourFrom(at('9999-12-31T23:30:00.000Z')) >= hourOf(last));
});

test.run();
