import { BrokenInvariant, type Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregateEntitlements, type MeteredEntitlement } from './aggregate-entitlements.ts';
import {
  type GrantedEntitlement,
  overrideValues,
  type ResetPeriod,
} from './granted-entitlement.ts';
import { aggregatedEntitlementSchema, entitlementSourceSchema } from './schema.ts';
import { now, ofAddon, ofPlan, ofSubscription } from './test-granted.ts';
import { aggregatedEntitlementView, entitlementSourceViews } from './view.ts';

const test = suite('aggregate entitlements');

const before = (minutes: number) => instant(-minutes);
const after = (minutes: number) => instant(minutes);
const instant = (minutes: number) =>
  new Date(Date.parse(now) + minutes * 60_000).toISOString() as Instant;

/** Adds up what the sources grant of one metered feature. */
function metered(...granted: GrantedEntitlement[]): MeteredEntitlement {
  const [found, ...more] = aggregateEntitlements(granted, now);
  assert.is(more.length, 0);
  assert.ok(found?.feature_type === 'metered');
  return found;
}

const limitOf = (...granted: GrantedEntitlement[]) => metered(...granted).usage_limit;
const idsOf = (...granted: GrantedEntitlement[]) =>
  aggregateEntitlements(granted, now).flatMap(({ sources }) =>
    sources.map(({ entitlement_id }) => entitlement_id),
  );

test('limits are added; null is unlimited and zero is a limit', () => {
  const cases: [limits: (number | null)[], together: number | null][] = [
    [[100], 100],
    [[100, 250], 350],
    [[100, null], null],
    [[null, 100], null],
    [[null, null], null],
    [[0], 0],
    [[0, 0], 0],
    [[0, 5], 5],
    [[0, null], null],
    [[1, 2, 3, 4], 10],
    [[Number.MAX_SAFE_INTEGER, 1], Number.MAX_SAFE_INTEGER],
    [[Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER], Number.MAX_SAFE_INTEGER],
    [[Number.MAX_SAFE_INTEGER - 1, 1], Number.MAX_SAFE_INTEGER],
  ];
  for (const [limits, together] of cases) {
    const granted = limits.map((usage_limit, index) =>
      ofAddon({ usage_limit, entitlement_id: `ent_${index}` }),
    );
    assert.is(limitOf(...granted), together, limits.join());
  }
});

test('an add-on that is there three times counts three times', () => {
  assert.is(limitOf(ofPlan({ usage_limit: 100 }), ofAddon({ usage_limit: 50, quantity: 3 })), 250);
  assert.is(limitOf(ofAddon({ usage_limit: 0, quantity: 3 })), 0);
  assert.is(limitOf(ofAddon({ usage_limit: null, quantity: 3 })), null);
  const attachedTwice = [ofAddon({ usage_limit: 50 }), ofAddon({ usage_limit: 50 })];
  assert.is(limitOf(...attachedTwice), 100, 'given once per association it is the same');
  assert.is(limitOf(ofAddon({ usage_limit: 2 ** 52, quantity: 1000 })), Number.MAX_SAFE_INTEGER);
});

test('what is disabled grants nothing', () => {
  const disabled = ofPlan({ usage_limit: 100, is_enabled: false, is_soft_limit: true });
  const found = metered(disabled, ofAddon({ usage_limit: 50 }));
  assert.is(found.usage_limit, 50);
  assert.not(found.is_soft_limit);
  assert.equal(idsOf(disabled, ofAddon()), ['ent_2']);
  assert.is(
    limitOf(ofPlan({ usage_limit: null, is_enabled: false }), ofAddon({ usage_limit: 5 })),
    5,
  );
  assert.equal(aggregateEntitlements([disabled], now), []);
  assert.equal(aggregateEntitlements([], now), []);
});

test('a limit is soft when any is', () => {
  const soft = (...flags: boolean[]) =>
    metered(
      ...flags.map((is_soft_limit, index) =>
        ofAddon({ is_soft_limit, usage_limit: 1, entitlement_id: `ent_${index}` }),
      ),
    ).is_soft_limit;
  assert.equal(
    [soft(false), soft(true), soft(false, false), soft(false, true)],
    [false, true, false, true],
  );
});

test('the reset period is the one that most have; then plan, add-on, subscription; then the longest', () => {
  type Owner = (fields: Partial<GrantedEntitlement>) => GrantedEntitlement;
  type Period = ResetPeriod | null;
  const cases: [given: [Owner, Period][], together: Period][] = [
    [[[ofPlan, 'DAILY']], 'DAILY'],
    [[[ofPlan, null]], null],
    [
      [
        [ofPlan, 'DAILY'],
        [ofAddon, 'MONTHLY'],
        [ofAddon, 'MONTHLY'],
      ],
      'MONTHLY',
    ],
    [
      [
        [ofPlan, null],
        [ofAddon, 'DAILY'],
        [ofSubscription, 'DAILY'],
      ],
      'DAILY',
    ],
    [
      [
        [ofPlan, 'DAILY'],
        [ofAddon, null],
        [ofAddon, null],
      ],
      null,
    ],
    [
      [
        [ofSubscription, 'ANNUAL'],
        [ofAddon, 'MONTHLY'],
        [ofPlan, 'DAILY'],
      ],
      'DAILY',
    ],
    [
      [
        [ofSubscription, 'ANNUAL'],
        [ofAddon, 'MONTHLY'],
      ],
      'MONTHLY',
    ],
    [
      [
        [ofAddon, 'MONTHLY'],
        [ofAddon, 'QUARTERLY'],
      ],
      'QUARTERLY',
    ],
    [
      [
        [ofAddon, 'DAILY'],
        [ofAddon, 'WEEKLY'],
        [ofAddon, 'MONTHLY'],
      ],
      'MONTHLY',
    ],
    [
      [
        [ofAddon, 'HALF_YEARLY'],
        [ofAddon, 'QUARTERLY'],
      ],
      'HALF_YEARLY',
    ],
    [
      [
        [ofAddon, 'HALF_YEARLY'],
        [ofAddon, 'ANNUAL'],
      ],
      'ANNUAL',
    ],
    [
      [
        [ofAddon, 'NEVER'],
        [ofAddon, 'ANNUAL'],
      ],
      'NEVER',
    ],
    [
      [
        [ofAddon, null],
        [ofAddon, 'DAILY'],
      ],
      'DAILY',
    ],
    [
      [
        [ofPlan, null],
        [ofAddon, 'DAILY'],
      ],
      null,
    ],
    [
      [
        [ofAddon, 'DAILY'],
        [ofAddon, 'DAILY'],
        [ofPlan, 'ANNUAL'],
        [ofSubscription, 'ANNUAL'],
      ],
      'ANNUAL',
    ],
  ];
  for (const [given, together] of cases) {
    const granted = given.map(([owner, usage_reset_period], index) =>
      owner({ usage_reset_period, entitlement_id: `ent_${index}` }),
    );
    const told = given.map(([, period]) => period).join();
    assert.is(metered(...granted).usage_reset_period, together, told);
    assert.is(metered(...granted.toReversed()).usage_reset_period, together, `${told} reversed`);
  }
});

test('a boolean feature is there when any source has it', () => {
  const boolean = (fields: Partial<GrantedEntitlement>) =>
    ofAddon({ feature_type: 'boolean', ...fields });
  const found = aggregateEntitlements(
    [boolean({ is_enabled: false }), boolean({ entitlement_id: 'ent_9' })],
    now,
  );
  assert.equal(
    found.map(({ feature_type, sources }) => [feature_type, sources.length]),
    [['boolean', 1]],
  );
  assert.equal(aggregateEntitlements([boolean({ is_enabled: false })], now), []);
});

test('a static feature has every value once, in the order of its sources', () => {
  const value = (static_value: string | null, fields: Partial<GrantedEntitlement>) => ({
    ...ofPlan({ feature_type: 'static', static_value }),
    ...fields,
  });
  const granted = [
    value('gold', { entity_type: 'ADDON', entitlement_id: 'ent_5' }),
    value('silver', { entitlement_id: 'ent_1' }),
    value('gold', { entitlement_id: 'ent_2', subscription_id: 'subs_2' }),
    value('bronze', { entitlement_id: 'ent_3', subscription_id: 'subs_2' }),
    value('never', { is_enabled: false }),
    value(null, { entitlement_id: 'ent_4' }),
  ];
  const [found] = aggregateEntitlements(granted, now);
  assert.ok(found?.feature_type === 'static');
  assert.equal(found.static_values, ['silver', 'gold', 'bronze']);
});

test('dates of entitlements of a subscription: from the start on, until right before the end', () => {
  const cases: [start: Instant | null, end: Instant | null, holds: boolean][] = [
    [null, null, true],
    [now, null, true],
    [after(1), null, false],
    [before(1), null, true],
    [null, now, false],
    [null, after(1), true],
    [null, before(1), false],
    [before(1), after(1), true],
    [now, after(1), true],
    [before(1), now, false],
  ];
  for (const [start_date, end_date, holds] of cases) {
    const found = idsOf(ofSubscription({ start_date, end_date }));
    assert.equal(found, holds ? ['ent_3'] : [], `${start_date} to ${end_date}`);
  }
});

test('dates of plans and add-ons do not count', () => {
  const over = { start_date: before(9), end_date: before(1) };
  const future = { start_date: after(1) };
  assert.equal(idsOf(ofPlan(over), ofAddon(future)), ['ent_1', 'ent_2']);
});

test('an override stands in for what the plan or the add-on grants', () => {
  const plan = ofPlan({ usage_limit: 100, quantity: 2 });
  const addon = ofAddon({ usage_limit: 10 });
  const over = (parent: string | null, fields: Partial<GrantedEntitlement> = {}) =>
    ofSubscription({ usage_limit: 7, parent_entitlement_id: parent, ...fields });
  const cases: [limit: number, granted: GrantedEntitlement[]][] = [
    [17, [plan, addon, over('ent_1')]],
    [207, [plan, addon, over('ent_2')]],
    [217, [plan, addon, over(null)]],
    [217, [plan, addon, over('ent_other')]],
    [217, [plan, addon, over('ent_1', { subscription_id: 'subs_2' })]],
    [210, [plan, addon, over('ent_1', { end_date: now })]],
    [210, [plan, addon, over('ent_1', { start_date: after(1) })]],
    [10, [plan, addon, over('ent_1', { is_enabled: false })]],
    [10, [plan, addon, over('ent_1', { usage_limit: 0 })]],
    [14, [plan, addon, over('ent_1'), over('ent_2', { entitlement_id: 'ent_4' })]],
    [107, [ofPlan({ usage_limit: 100 }), addon, addon, over('ent_2')]],
    [14, [over(null), over('ent_3', { entitlement_id: 'ent_4' })]],
  ];
  for (const [limit, granted] of cases) {
    assert.is(limitOf(...granted), limit);
    assert.is(limitOf(...granted.toReversed()), limit);
  }
});

test('a plan or an add-on never stands in for anything', () => {
  const addon = ofAddon({ usage_limit: 1, parent_entitlement_id: 'ent_1' });
  assert.is(limitOf(ofPlan({ usage_limit: 10 }), addon), 11);
});

test('a disabled override takes a feature away', () => {
  const off = ofSubscription({ parent_entitlement_id: 'ent_1', is_enabled: false });
  assert.equal(aggregateEntitlements([ofPlan(), off], now), []);
});

test('an override keeps what it does not say', () => {
  const parent = ofPlan({ usage_limit: 100, usage_reset_period: 'DAILY', static_value: 'gold' });
  const values = {
    is_enabled: true,
    is_soft_limit: false,
    usage_limit: 100,
    usage_reset_period: 'DAILY',
    static_value: 'gold',
  };
  assert.equal(overrideValues(parent, {}), values);
  assert.equal(overrideValues(parent, { is_enabled: false }), { ...values, is_enabled: false });
  assert.equal(overrideValues(parent, { usage_limit: 0 }), { ...values, usage_limit: 0 });
  assert.equal(overrideValues(parent, { usage_limit: null }), { ...values, usage_limit: null });
  assert.equal(overrideValues(parent, { usage_limit: undefined }), values);
});

test('features come by id, sources by subscription, owner and id', () => {
  const granted = [
    ofSubscription({ feature_id: 'feat_2' }),
    ofAddon({ feature_id: 'feat_2', entitlement_id: 'ent_7', entity_id: 'addon_2' }),
    ofAddon({ feature_id: 'feat_2', entitlement_id: 'ent_8', entity_id: 'addon_1' }),
    ofAddon({ feature_id: 'feat_2', entitlement_id: 'ent_6', entity_id: 'addon_1' }),
    ofPlan({ feature_id: 'feat_2', entitlement_id: 'ent_9' }),
    ofPlan({ feature_id: 'feat_2', entitlement_id: 'ent_0', subscription_id: 'subs_2' }),
    ofPlan({ feature_id: 'feat_1' }),
  ];
  const expected = ['ent_1', 'ent_9', 'ent_6', 'ent_8', 'ent_7', 'ent_3', 'ent_0'];
  assert.equal(idsOf(...granted), expected);
  assert.equal(idsOf(...granted.toReversed()), expected);
});

test('entitlements of one feature that disagree on its type are a fault of the program', () => {
  const granted = [ofPlan(), ofAddon({ feature_type: 'boolean' })];
  assert.throws(
    () => aggregateEntitlements(granted, now),
    (error: unknown) => error instanceof BrokenInvariant,
  );
});

test('the shown entitlement has one shape for all types', () => {
  const views = (...granted: GrantedEntitlement[]) =>
    aggregateEntitlements(granted, now).map((each) =>
      aggregatedEntitlementSchema.parse(aggregatedEntitlementView(each)),
    );
  const none = { is_enabled: true, is_soft_limit: false, usage_limit: null, static_values: [] };
  const limited = { usage_limit: 5, is_soft_limit: true, usage_reset_period: 'DAILY' } as const;
  assert.equal(views(ofPlan(limited)), [{ ...none, ...limited }]);
  assert.equal(views(ofPlan({ usage_limit: 0 })), [{ ...none, usage_limit: 0 }]);
  assert.equal(views(ofPlan()), [none]);
  assert.equal(views(ofPlan({ feature_type: 'boolean', ...limited })), [none]);
  assert.equal(views(ofPlan({ feature_type: 'static', static_value: 'gold', ...limited })), [
    { ...none, static_values: ['gold'] },
  ]);
});

test('the shown sources name their own subscription and quantity', () => {
  const granted = [
    ofAddon({
      usage_limit: 5,
      quantity: 3,
      subscription_id: 'subs_2',
      usage_reset_period: 'DAILY',
    }),
    ofPlan(),
  ];
  const [found] = aggregateEntitlements(granted, now);
  assert.ok(found);
  const views = entitlementSourceViews(found);
  assert.equal(
    views.map((view) => entitlementSourceSchema.parse(view)),
    views,
  );
  assert.equal(views, [
    {
      entitlement_id: 'ent_1',
      subscription_id: 'subs_1',
      entity_type: 'plan',
      entity_id: 'plan_1',
      entity_name: 'Starter',
      reason: 'plan',
      quantity: 1,
      is_enabled: true,
    },
    {
      entitlement_id: 'ent_2',
      subscription_id: 'subs_2',
      entity_type: 'addon',
      entity_id: 'addon_1',
      entity_name: 'More of it',
      reason: 'addon',
      quantity: 3,
      is_enabled: true,
      usage_limit: 5,
      usage_reset_period: 'DAILY',
    },
  ]);
});

test('the shown source of a static feature has its value and no limit', () => {
  const [found] = aggregateEntitlements(
    [ofSubscription({ feature_type: 'static', static_value: 'gold', usage_limit: 5 })],
    now,
  );
  assert.ok(found);
  const [view] = entitlementSourceViews(found);
  assert.equal(
    [view?.entity_type, view?.static_value, view?.usage_limit],
    ['subscription', 'gold', undefined],
  );
});

test.run();
