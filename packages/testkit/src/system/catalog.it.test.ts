import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../caller.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';

const test = suite('plans, many at once and large ones');

let stack: SharedStack;
let tenant: TestTenant;
test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('catalog');
});

const times = <Value>(count: number, work: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

const countOf = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

/** Exactly one succeeded, and all others were told that the value is taken. */
function assertOneOf(answers: readonly Answer[]): void {
  assert.is(countOf(answers, 201), 1);
  assert.is(countOf(answers, 409), answers.length - 1);
  const refused = answers.find(({ status }) => status === 409);
  assert.is(refused?.body.code, 'already_exists');
}

/** A read that is sure to see all that has been written. */
async function readNow(method: string, path: string, body?: unknown) {
  const head = { 'counterfoil-min-position': `${await stack.store.head()}` };
  for (;;) {
    const answer = await tenant.call(method, path, body, head);
    if (answer.status !== 503) return answer.body;
  }
}

const plansWith = async (lookup_key: string) =>
  (await readNow('POST', '/plans/search', { lookup_key })).items;

const flat = {
  entity_type: 'PLAN',
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '1',
};

test('of 64 creations of plans with one lookup_key one succeeds', async () => {
  const answers = await times(64, (index) =>
    tenant.call('POST', '/plans', { name: `Plan ${index}`, lookup_key: 'same-plan' }),
  );
  assertOneOf(answers);
  assert.is((await plansWith('same-plan')).length, 1);
});

test('of 64 clones with one lookup_key one succeeds, and it is whole', async () => {
  const source = await tenant.ok('POST', '/plans', { name: 'Source' });
  const items = Array.from({ length: 5 }, () => ({ ...flat, entity_id: source.id }));
  await tenant.ok('POST', '/prices/bulk', { items });
  const answers = await times(64, (index) =>
    tenant.call('POST', `/plans/${source.id}/clone`, {
      name: `Clone ${index}`,
      lookup_key: 'same-clone',
    }),
  );
  assertOneOf(answers);
  const found = await plansWith('same-clone');
  assert.is(found.length, 1);
  assert.is((await readNow('GET', `/plans/${found[0].id}`)).prices.length, 5);
});

test('of 64 prices with one lookup_key, on different plans, one is made', async () => {
  const plans = await times(8, (index) => tenant.ok('POST', '/plans', { name: `Owner ${index}` }));
  const answers = await times(64, (index) =>
    tenant.call('POST', '/prices', {
      ...flat,
      entity_id: plans[index % 8].id,
      lookup_key: 'same-price',
    }),
  );
  assertOneOf(answers);
  assert.is((await readNow('GET', '/prices/lookup/same-price')).lookup_key, 'same-price');
});

test('of 64 entitlements of one plan for one feature one is made', async () => {
  const { id: plan_id } = await tenant.ok('POST', '/plans', { name: 'Entitled' });
  const { id: feature_id } = await tenant.ok('POST', '/features', { name: 'F', type: 'boolean' });
  const body = { feature_id, feature_type: 'boolean', plan_id };
  const answers = await times(64, () => tenant.call('POST', '/entitlements', body));
  assertOneOf(answers);
  const { pagination } = await readNow('GET', `/plans/${plan_id}/entitlements`);
  assert.is(pagination.total, 1);
});

/** A plan with 200 prices, 100 entitlements and 20 credit grants. */
async function largePlan(): Promise<string> {
  const { id } = await tenant.ok('POST', '/plans', { name: 'Large', lookup_key: 'large' });
  const tiers = [{ up_to: 1000, unit_amount: '0.002' }, { unit_amount: '0.001' }];
  const tiered = { billing_model: 'TIERED', tier_mode: 'SLAB', tiers, amount: undefined };
  for (const part of ['a', 'b']) {
    const items = Array.from({ length: 100 }, (_, index) => ({
      ...flat,
      entity_id: id,
      lookup_key: `${part}-${index}`,
      ...(index % 2 === 0 ? tiered : { amount: `${index}` }),
    }));
    await tenant.ok('POST', '/prices/bulk', { items });
  }
  const features = await times(100, (index) =>
    tenant.ok('POST', '/features', { name: `Feature ${index}`, type: 'boolean' }),
  );
  const items = features.map((feature) => ({ feature_id: feature.id, plan_id: id }));
  await tenant.ok('POST', '/entitlements/bulk', { items });
  const grant = { scope: 'PLAN', plan_id: id, credits: '5', cadence: 'ONETIME' };
  await times(20, (index) => tenant.ok('POST', '/creditgrants', { ...grant, name: `G ${index}` }));
  return id;
}

interface Whole {
  readonly prices: readonly { readonly id: string }[];
  readonly entitlements: readonly { readonly id: string }[];
  readonly credit_grants: readonly { readonly id: string }[];
}

const sizesOf = ({ prices, entitlements, credit_grants }: Whole): number[] => [
  prices.length,
  entitlements.length,
  credit_grants.length,
];

const idsOf = ({ prices, entitlements, credit_grants }: Whole): string[] =>
  [...prices, ...entitlements, ...credit_grants].map(({ id }) => id);

test('a large plan is cloned as a whole, under new ids; its source is not touched', async () => {
  const id = await largePlan();
  const source = await readNow('GET', `/plans/${id}`);
  assert.equal(sizesOf(source), [200, 100, 20]);
  const elapsed: number[] = [];
  for (const number of [1, 2, 3, 4, 5]) {
    const body = { name: `Large ${number}`, lookup_key: `large-${number}` };
    const begun = performance.now();
    const clone = await tenant.ok('POST', `/plans/${id}/clone`, body);
    elapsed.push(Math.round(performance.now() - begun));
    assert.equal(sizesOf(clone), [200, 100, 20]);
    const shown = await readNow('GET', `/plans/${clone.id}`);
    assert.equal(sizesOf(shown), [200, 100, 20]);
    assert.equal(new Set(idsOf(shown)), new Set(idsOf(clone)));
    assert.is(new Set([...idsOf(source), ...idsOf(clone)]).size, 640);
    const ownersOf = (items: readonly { entity_id: string }[]) =>
      new Set(items.map(({ entity_id }) => entity_id));
    assert.equal(ownersOf(shown.prices), new Set([clone.id]));
  }
  console.log(`  clone of a plan with 200 prices, 100 entitlements, 20 grants: ${elapsed} ms`);
  assert.equal(await readNow('GET', `/plans/${id}`), source);
});

test('a clone that is refused leaves nothing behind', async () => {
  const [source] = await plansWith('large');
  const revisionsOf = async () => {
    const found = [];
    const prefixes = ['offer-'];
    const upTo = await stack.store.head();
    for await (const { stream, type } of stack.store.readLog({ prefixes, after: 0n, upTo })) {
      found.push(`${stream} ${type}`);
    }
    return found.length;
  };
  const before = await revisionsOf();
  const refusals = [
    [{ name: 'Another', lookup_key: 'large' }, 409],
    [{ name: 'Large', lookup_key: 'another' }, 400],
    [{ name: 'Another' }, 400],
    [{ lookup_key: 'another' }, 400],
  ] as const;
  for (const [body, status] of refusals) {
    const answer = await tenant.call('POST', `/plans/${source.id}/clone`, body);
    assert.is(answer.status, status, answer.text);
  }
  const unknown = 'plan_01KA0000000000000000000000';
  const body = { name: 'Another', lookup_key: 'another' };
  assert.is((await tenant.call('POST', `/plans/${unknown}/clone`, body)).status, 404);
  assert.is(await revisionsOf(), before);
});

test('If-Match of a plan means the plan with all that it owns', async () => {
  const { id } = await tenant.ok('POST', '/plans', { name: 'Watched' });
  const first = await tenant.call('GET', `/plans/${id}`);
  const etag = first.headers.get('etag') ?? '';
  await tenant.ok('POST', '/prices', { ...flat, entity_id: id });
  const stale = await tenant.call('PUT', `/plans/${id}`, { name: 'x' }, { 'if-match': etag });
  assert.is(stale.status, 412);
  await readNow('GET', `/plans/${id}`);
  const now = await tenant.call('GET', `/plans/${id}`);
  const fresh = { 'if-match': now.headers.get('etag') ?? '' };
  assert.is((await tenant.call('PUT', `/plans/${id}`, { name: 'x' }, fresh)).status, 200);
});

test('the ETag of a plan changes with what stands inside of it, though its revision does not', async () => {
  const plan = await tenant.ok('POST', '/plans', { name: 'Watched inside' });
  const feature = await tenant.ok('POST', '/features', { name: 'Before', type: 'boolean' });
  const entitlement = { feature_id: feature.id, feature_type: 'boolean', plan_id: plan.id };
  await tenant.ok('POST', '/entitlements', entitlement);
  await readNow('GET', `/plans/${plan.id}`);
  const path = `/plans/${plan.id}`;
  const first = await tenant.call('GET', path);
  const etag = first.headers.get('etag') ?? '';
  const known = { 'if-none-match': etag };
  assert.is((await tenant.call('GET', path, undefined, known)).status, 304);
  await tenant.ok('PUT', `/features/${feature.id}`, { name: 'After' });
  await readNow('GET', `/features/${feature.id}`);
  const second = await tenant.call('GET', path, undefined, known);
  assert.is(second.status, 200);
  assert.is(JSON.parse(second.text).entitlements[0].feature.name, 'After');
  const changed = second.headers.get('etag') ?? '';
  assert.is.not(changed, etag);
  assert.is(changed.split('-')[0], etag.split('-')[0], 'the plan itself is as it was');
});

test.run();
