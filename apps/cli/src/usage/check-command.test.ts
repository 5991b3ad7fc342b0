import type { EntitlementCheck } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkLine } from './check-command.ts';

const test = suite('an entitlement check in one line');

const nothing = { limit: null, used: null, remaining: null, resets_at: null, position: null };
const resets_at = '2026-06-10T08:30:00.000Z' as EntitlementCheck['resets_at'];

for (const [answer, line] of [
  [{ allowed: false, reason: 'not_granted' }, 'not allowed: not_granted'],
  [
    { allowed: true, reason: 'unlimited', used: '40', resets_at },
    `allowed: unlimited, 40 used, starts over at ${resets_at}`,
  ],
  [
    { allowed: false, reason: 'limit_reached', limit: '10', used: '10' },
    'not allowed: limit_reached, 10 of 10 used',
  ],
] as const) {
  test(line, () => assert.is(checkLine({ ...nothing, ...answer }), line));
}

test.run();
