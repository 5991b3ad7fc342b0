import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { oldUpTo } from './retention.ts';

const test = suite('the age at which facts are old');

for (const [now, months, limit] of [
  ['2026-11-25T13:00:00.000Z', 1, '2026-10-01T00:00:00.000Z'],
  ['2026-11-01T00:00:00.000Z', 1, '2026-10-01T00:00:00.000Z'],
  ['2026-10-31T23:59:59.999Z', 1, '2026-09-01T00:00:00.000Z'],
  ['2026-01-15T00:00:00.000Z', 1, '2025-12-01T00:00:00.000Z'],
  ['2026-11-25T13:00:00.000Z', 11, '2025-12-01T00:00:00.000Z'],
  ['2026-11-25T13:00:00.000Z', 24, '2024-11-01T00:00:00.000Z'],
] as const) {
  test(`${months} months at ${now}: what ended by ${limit}`, () => {
    assert.is(oldUpTo(now as Instant, months), limit);
  });
}

test.run();
