import { type Canary, survivors } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** The most telling planted bugs are in ../canaries.it.test.ts. */
const test = suite('entitlement canaries');

const folder = 'packages/modules/src/entitlements';

const inFile =
  (file: string) =>
  (name: string, text: string, bug: string): Canary => ({
    name,
    path: `${folder}/${file}`,
    text,
    bug,
  });

const aggregate = inFile('aggregate-entitlements.ts');
const granted = inFile('granted-entitlement.ts');

/** The bugs that the properties find without the tables. */
const basic: readonly Canary[] = [
  aggregate(
    'the largest limit counts instead of the sum',
    'Math.min(sum + usage_limit * quantity,',
    'Math.min(Math.max(sum, usage_limit * quantity),',
  ),
  aggregate('the quantity is forgotten', 'usage_limit * quantity', 'usage_limit'),
  aggregate(
    'zero is unlimited',
    'if (usage_limit === null) return null;',
    'if (!usage_limit) return null;',
  ),
  aggregate(
    'sums grow beyond what is exact',
    'Math.min(sum + usage_limit * quantity, Number.MAX_SAFE_INTEGER)',
    'sum + usage_limit * quantity',
  ),
  aggregate('sources keep the order they came in', 'sources.sort(inSourceOrder)', 'sources'),
  granted('disabled entitlements count', 'is_enabled &&\n', 'is_enabled !== null &&\n'),
  granted(
    'an override hides in every subscription',
    'entitlementId: string): string =>',
    'entitlementId: string): string => entitlementId ||',
  ),
  granted(
    'an override that is over still hides',
    'const replaced = new Set(\n    holding.flatMap',
    'const replaced = new Set(\n    granted.flatMap',
  ),
  granted(
    'overrides add to their parents',
    '!replaced.has(keyOf(subscription_id, entitlement_id))',
    'entitlement_id.length > 0',
  ),
  granted('an override hides only one of the same', '!replaced.has(', '!replaced.delete('),
  granted(
    'a disabled override hides nothing',
    "entity_type === 'SUBSCRIPTION' && parent_entitlement_id !== null",
    "granted.some((own) => own.is_enabled && own.parent_entitlement_id === parent_entitlement_id) && entity_type === 'SUBSCRIPTION' && parent_entitlement_id !== null",
  ),
  granted(
    'add-ons stand in for what their parent names',
    "entity_type === 'SUBSCRIPTION' && parent",
    'parent',
  ),
  granted("a plan's dates count", "if (entity_type !== 'SUBSCRIPTION') return true;", ''),
];

/** The bugs that only a table can find, because the rule is a choice. */
const chosen: readonly Canary[] = [
  granted('the start of an override is exclusive', 'start_date <= at', 'start_date < at'),
  aggregate(
    'the shortest period wins',
    '(other ? lengthOf[other] : 0) - (one ? lengthOf[one] : 0)',
    '(one ? lengthOf[one] : 0) - (other ? lengthOf[other] : 0)',
  ),
  aggregate(
    'the rarest period wins',
    'ofOther.length - ofOne.length',
    'ofOne.length - ofOther.length',
  ),
  aggregate(
    'a subscription decides on the period',
    'bestRank(ofOne) - bestRank(ofOther)',
    'bestRank(ofOther) - bestRank(ofOne)',
  ),
  aggregate(
    'a limit is soft when all are',
    'sources.some(({ is_soft_limit })',
    'sources.every(({ is_soft_limit })',
  ),
  aggregate(
    'values repeat',
    '...new Set(sources.flatMap(({ static_value }) => static_value ?? []))',
    '...sources.flatMap(({ static_value }) => static_value ?? [])',
  ),
  granted(
    'an override forgets its parent',
    '{ is_enabled, is_soft_limit, usage_limit, usage_reset_period, static_value },\n    changes',
    '{ is_enabled, is_soft_limit, usage_limit: null, usage_reset_period, static_value },\n    changes',
  ),
  inFile('view.ts')(
    'every source is one of a plan',
    'entity_type: sourceTypes[source.entity_type]',
    'entity_type: sourceTypes.PLAN',
  ),
  inFile('view.ts')(
    'unlimited and zero look the same',
    'return { ...common, is_soft_limit, usage_limit, ...period }',
    'return { ...common, is_soft_limit, usage_limit: usage_limit || null, ...period }',
  ),
  inFile('view.ts')(
    'a source shows one instead of its quantity',
    'quantity: source.quantity',
    'quantity: 1',
  ),
];

const tables = [`${folder}/aggregate-entitlements.test.ts`];
const properties = [`${folder}/aggregate-entitlements.property.test.ts`];

test('the tables catch every bug', async () => {
  assert.equal(await survivors([...basic, ...chosen], tables), []);
});

test('the properties catch those that are not a choice', async () => {
  assert.equal(await survivors(basic, properties), []);
});

test.run();
