import { type Canary, survivors } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** The most telling planted bugs of pricing and entitlements; the others are in the long run. */
const test = suite('canaries of pricing and entitlements');

const pricing = 'packages/modules/src/pricing';
const entitlements = 'packages/modules/src/entitlements';

interface Telling extends Canary {
  /** Sets of test files, each of which finds the bug by itself. */
  readonly foundBy: readonly (readonly string[])[];
}

const pricingTables = ['cost-per-unit', 'cost-tiers', 'cost'].map(
  (name) => `${pricing}/${name}.test.ts`,
);
const entitlementTests = [
  [`${entitlements}/aggregate-entitlements.test.ts`],
  [`${entitlements}/aggregate-entitlements.property.test.ts`],
];

const telling: readonly Telling[] = [
  {
    name: 'halves are rounded to even',
    path: 'packages/kernel/src/money.ts',
    text: 'amount.round(scale, 1)',
    bug: 'amount.round(scale, 2)',
    foundBy: [pricingTables],
  },
  {
    name: 'the amount is rounded before it is converted',
    path: `${pricing}/cost.ts`,
    text: 'charged.times(decimal(price_unit.conversion_rate))',
    bug: 'decimal(moneyText(money(charged, currency))).times(decimal(price_unit.conversion_rate))',
    foundBy: [pricingTables],
  },
  {
    name: 'a bound belongs to the tier above (volume)',
    path: `${pricing}/charge.ts`,
    text: 'quantity.cmp(decimal(up_to)) <= 0)',
    bug: 'quantity.cmp(decimal(up_to)) < 0)',
    foundBy: [pricingTables, [`${pricing}/cost.property.test.ts`]],
  },
  {
    name: 'unlimited counts as nothing',
    path: `${entitlements}/aggregate-entitlements.ts`,
    text: 'if (usage_limit === null) return null;',
    bug: 'if (usage_limit === null) continue;',
    foundBy: entitlementTests,
  },
  {
    name: 'the end of an override is inclusive',
    path: `${entitlements}/granted-entitlement.ts`,
    text: 'at < end_date)',
    bug: 'at <= end_date)',
    foundBy: entitlementTests,
  },
];

for (const canary of telling) {
  test(`caught: ${canary.name}`, async () => {
    for (const tests of canary.foundBy) assert.equal(await survivors([canary], tests), []);
  });
}

test.run();
