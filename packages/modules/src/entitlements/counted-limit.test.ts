import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregateEntitlements } from './aggregate-entitlements.ts';
import { countedLimit } from './counted-limit.ts';
import type { GrantedEntitlement } from './granted-entitlement.ts';
import { now, ofPlan } from './test-granted.ts';

const test = suite('limits that use is held against');

const { rhythm } = ofPlan();
/** The rhythm of a subscription that is older, and begins its periods on another day. */
const older = {
  ...rhythm,
  start: '2025-06-20T00:00:00.000Z' as Instant,
  anchor: '2025-06-20T00:00:00.000Z' as Instant,
};
const sharedBy = (subscription_id: string) => ({ subscription_id, users: [] });

/** The limit of a customer, its period and who shares it. */
function countedOf(...granted: readonly GrantedEntitlement[]) {
  const [all] = aggregateEntitlements(granted, now);
  assert.ok(all?.feature_type === 'metered');
  const { entitlement, period, shared } = countedLimit(all, now);
  return [entitlement.usage_limit, period.start, shared?.subscription_id ?? null];
}

const monthly = { usage_reset_period: 'MONTHLY' } as const;
const inherited = ofPlan({
  ...{ ...monthly, usage_limit: 100, is_inherited: true, shared: sharedBy('subs_parent') },
});
const own = ofPlan({
  ...{ ...monthly, usage_limit: 5, rhythm: older, subscription_id: 'subs_own' },
  entitlement_id: 'ent_own',
});

const march = '2026-03-10T08:30:00.000Z';

for (const [name, granted, expected] of [
  ['one that nobody shares', [own], [5, '2026-02-20T00:00:00.000Z', null]],
  ['one that is shared', [inherited], [100, march, 'subs_parent']],
  [
    'one of its own comes on top, in the periods of what is shared',
    [inherited, own],
    [105, march, 'subs_parent'],
  ],
  [
    'of two that are shared that of the oldest subscription counts alone',
    [inherited, { ...own, shared: sharedBy('subs_older') }],
    [5, '2026-02-20T00:00:00.000Z', 'subs_older'],
  ],
  [
    'of two that began together that with the lesser id',
    [inherited, { ...own, rhythm, shared: sharedBy('subs_a') }],
    [5, march, 'subs_a'],
  ],
  [
    'what is unlimited is shared with nobody',
    [{ ...inherited, usage_limit: null }, own],
    [null, '2026-02-20T00:00:00.000Z', null],
  ],
] as const) {
  test(name, () => assert.equal(countedOf(...granted), expected));
}

test.run();
