import type { Instant } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregateEntitlements, type FeatureEntitlement } from './aggregate-entitlements.ts';
import type { FeatureType, GrantedEntitlement } from './granted-entitlement.ts';
import { now, ofPlan } from './test-granted.ts';

const test = suite('aggregate entitlements properties');

/** Three features, one of each type, so that the type of a feature is always the same. */
const featureTypes: Readonly<Record<string, FeatureType>> = {
  feat_1: 'metered',
  feat_2: 'boolean',
  feat_3: 'static',
};

const instants: Instant[] = ['2026-03-14', '2026-03-15', '2026-03-16'].map(
  (day) => `${day}T12:00:00.000Z` as Instant,
);
const anyInstant = fc.option(fc.constantFrom(...instants));
const anyOwner = fc.constantFrom('PLAN' as const, 'ADDON' as const, 'SUBSCRIPTION' as const);
const anyLimit = fc.option(
  fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(Number.MAX_SAFE_INTEGER), fc.maxSafeNat()),
);

const anyGranted: fc.Arbitrary<GrantedEntitlement> = fc
  .record({
    entitlement_id: fc.integer({ min: 1, max: 6 }).map((number) => `ent_${number}`),
    feature_id: fc.constantFrom(...Object.keys(featureTypes)),
    subscription_id: fc.constantFrom('subs_1', 'subs_2'),
    entity_type: anyOwner,
    quantity: fc.integer({ min: 1, max: 3 }),
    parent_entitlement_id: fc.option(fc.integer({ min: 1, max: 6 }).map((each) => `ent_${each}`)),
    is_enabled: fc.boolean(),
    is_soft_limit: fc.boolean(),
    usage_limit: anyLimit,
    usage_reset_period: fc.constantFrom(
      null,
      'DAILY' as const,
      'MONTHLY' as const,
      'NEVER' as const,
    ),
    static_value: fc.option(fc.constantFrom('gold', 'silver', 'bronze')),
    start_date: anyInstant,
    end_date: anyInstant,
  })
  .map((fields) => {
    const feature_type = featureTypes[fields.feature_id] as FeatureType;
    const entity_id = `${fields.entity_type}_${fields.entitlement_id}`;
    return ofPlan({ ...fields, feature_type, entity_id });
  });

/** Entitlements of which no two are the same one of the same subscription. */
const anySet = fc.uniqueArray(anyGranted, {
  maxLength: 12,
  selector: ({ subscription_id, entitlement_id, feature_id }) =>
    `${subscription_id} ${feature_id} ${entitlement_id}`,
});

const aggregate = (granted: readonly GrantedEntitlement[]) => aggregateEntitlements(granted, now);

/** The limit of the metered feature: undefined when there is none, null when it is unlimited. */
function limitIn(found: readonly FeatureEntitlement[]): number | null | undefined {
  const metered = found.find(({ feature_type }) => feature_type === 'metered');
  return metered?.feature_type === 'metered' ? metered.usage_limit : undefined;
}

/** Nothing, then every number, then unlimited, as something that can be compared. */
const generosity = (limit: number | null | undefined): number =>
  limit === undefined ? -1 : (limit ?? Number.POSITIVE_INFINITY);

/** Tells whether an entitlement counts, by asking of every other one whether it takes its place. */
function counts(each: GrantedEntitlement, all: readonly GrantedEntitlement[]): boolean {
  const isInTime = (one: GrantedEntitlement): boolean => {
    const [from, to] = [one.start_date ?? '0', one.end_date ?? '9'];
    return one.entity_type !== 'SUBSCRIPTION' || (from <= now && now < to);
  };
  const standsIn = (other: GrantedEntitlement): boolean =>
    other.entity_type === 'SUBSCRIPTION' &&
    isInTime(other) &&
    other.subscription_id === each.subscription_id &&
    other.parent_entitlement_id === each.entitlement_id;
  const isReplaced = each.entity_type !== 'SUBSCRIPTION' && all.some(standsIn);
  return each.is_enabled && isInTime(each) && !isReplaced;
}

test('the order of the sources does not matter', () => {
  const shuffled = anySet.chain((granted) =>
    fc.tuple(
      fc.constant(granted),
      fc.shuffledSubarray(granted, { minLength: granted.length, maxLength: granted.length }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([granted, other]) => assert.equal(aggregate(other), aggregate(granted))),
    { numRuns: 1_000 },
  );
});

test('one more source never lowers a limit, unless it stands in for another', () => {
  fc.assert(
    fc.property(anySet, anyGranted, (granted, more) => {
      const added = { ...more, parent_entitlement_id: null };
      const less = generosity(limitIn(aggregate(granted)));
      assert.ok(generosity(limitIn(aggregate([...granted, added]))) >= less);
    }),
    { numRuns: 1_000 },
  );
});

test('one more source never takes a feature or a value away, unless it stands in for another', () => {
  fc.assert(
    fc.property(anySet, anyGranted, (granted, more) => {
      const found = aggregate([...granted, { ...more, parent_entitlement_id: null }]);
      for (const had of aggregate(granted)) {
        const has = found.find(({ feature_id }) => feature_id === had.feature_id);
        assert.ok(has);
        if (had.feature_type !== 'static' || has.feature_type !== 'static') continue;
        for (const value of had.static_values) assert.ok(has.static_values.includes(value));
      }
    }),
  );
});

test('unlimited absorbs every limit', () => {
  fc.assert(
    fc.property(anySet, (granted) => {
      const unlimited = ofPlan({ entitlement_id: 'ent_0', usage_limit: null });
      assert.is(limitIn(aggregate([...granted, unlimited])), null);
    }),
  );
});

test('the limit is the sum, worked out plainly', () => {
  fc.assert(
    fc.property(anySet, (granted) => {
      const counted = granted.filter(
        (each) => each.feature_type === 'metered' && counts(each, granted),
      );
      const isUnlimited = counted.some(({ usage_limit }) => usage_limit === null);
      const sum = counted.reduce(
        (total, each) => total + BigInt(each.usage_limit ?? 0) * BigInt(each.quantity),
        0n,
      );
      const most = BigInt(Number.MAX_SAFE_INTEGER);
      const expected = isUnlimited ? null : Number(sum > most ? most : sum);
      assert.is(limitIn(aggregate(granted)), counted.length === 0 ? undefined : expected);
    }),
    { numRuns: 1_000 },
  );
});

test('every source that counts is shown once, and no other', () => {
  fc.assert(
    fc.property(anySet, (granted) => {
      const shown = aggregate(granted).flatMap(({ sources }) => sources);
      assert.equal(new Set(shown), new Set(granted.filter((each) => counts(each, granted))));
      assert.is(shown.length, new Set(shown).size);
    }),
    { numRuns: 1_000 },
  );
});

test('subscriptions do not see each other: all together have what each has alone', () => {
  fc.assert(
    fc.property(anySet, (granted) => {
      const of = (id: string) => granted.filter(({ subscription_id }) => subscription_id === id);
      const sources = (found: readonly FeatureEntitlement[]) =>
        new Set(found.flatMap((feature) => feature.sources));
      const alone = [...sources(aggregate(of('subs_1'))), ...sources(aggregate(of('subs_2')))];
      assert.equal(sources(aggregate(granted)), new Set(alone));
    }),
  );
});

test('features come by id, each once', () => {
  fc.assert(
    fc.property(anySet, (granted) => {
      const ids = aggregate(granted).map(({ feature_id }) => feature_id);
      assert.equal(ids, [...new Set(ids)].sort());
    }),
  );
});

test.run();
