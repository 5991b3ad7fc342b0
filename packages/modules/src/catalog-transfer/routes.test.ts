import {
  callRoute,
  type Idempotency,
  type MemoryStore,
  memoryWorld,
  reactTo,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coupon } from '../coupons/index.ts';
import { feature } from '../features/index.ts';
import { group } from '../groups/index.ts';
import { meter } from '../meters/index.ts';
import { offer } from '../offers/index.ts';
import { priceUnit } from '../pricing-units/index.ts';
import { taxRate } from '../taxes/index.ts';
import { importCarriedOut } from './carry-out.ts';
import { catalogTransfer } from './index.ts';
import { catalogTransferRoutes as routes } from './routes.ts';
import { catalogue } from './test-catalogue.ts';

const test = suite('catalogue transfer');

const aggregates = [
  group,
  meter,
  priceUnit,
  feature,
  coupon,
  taxRate,
  offer,
  ...catalogTransfer.aggregates,
];

/** A process over a log, which may be there already. */
function processOver(store?: MemoryStore) {
  const world = memoryWorld(aggregates, store);
  const context = (environment: string, idempotency?: Idempotency) =>
    world.request(testPrincipal(environment), idempotency);
  return {
    world,
    importing: (body: object, environment = 'env_01', idempotency?: Idempotency) =>
      callRoute(routes['POST /catalog/import'], context(environment, idempotency), { body }),
    exported: (environment = 'env_01') =>
      callRoute(routes['GET /catalog/export'], context(environment)),
    found: (id: string) =>
      callRoute(routes['GET /catalog/imports/{id}'], context('env_01'), { params: { id } }),
    /** Does what the projector does for an import. */
    finish: (id: string) => reactTo(context('env_01'), importCarriedOut, id),
  };
}

const textOf = (document: unknown): string => JSON.stringify(document, null, 2);
const copyOf = () => structuredClone(catalogue) as typeof catalogue;
const actionsOf = ({ changes }: { changes: readonly { action: string; key: string }[] }) =>
  changes.map(({ action, key }) => `${key} ${action}`);

test('what is exported and imported elsewhere is exported there as the same text', async () => {
  const { importing, exported } = processOver();
  const first = await importing({ document: catalogue });
  assert.equal([first.refused, first.unchanged, first.changes.length], [[], 0, 16]);
  const document = await exported();
  await importing({ document }, 'env_02');
  assert.is(textOf(await exported('env_02')), textOf(document));
});

test('null in an entry means absent', async () => {
  const { importing, exported } = processOver();
  const rate = { name: 'VAT', code: 'vat', percentage_value: '19', tax_rate_status: null };
  const document = { version: 1, tax_rates: [rate] };
  assert.equal((await importing({ document })).refused, []);
  const { tax_rates } = await exported();
  assert.is(tax_rates?.[0]?.tax_rate_status, 'ACTIVE');
});

test('a second import changes nothing and writes nothing', async () => {
  const { world, importing, exported } = processOver();
  await importing({ document: catalogue });
  const events = world.store.log.length;
  const document = await exported();
  for (const body of [{ document: catalogue }, { document }, { document, prune: true }]) {
    assert.equal(await importing(body), {
      dry_run: false,
      changes: [],
      unchanged: 16,
      refused: [],
    });
  }
  assert.is(world.store.log.length, events);
});

test('a keyed import that had nothing to do does nothing when it is repeated later', async () => {
  const { importing, exported, finish, world } = processOver();
  await importing({ document: catalogue });
  const keyed = { key: 'nightly', operation: 'POST /catalog/import', fields: {} };
  const first = await importing({ document: catalogue }, 'env_01', keyed);
  assert.equal([first.changes, first.unchanged, first.refused], [[], 16, []]);
  const changed = copyOf();
  Object.assign(changed.features[0] ?? {}, { name: 'Larger model' });
  await importing({ document: changed });
  const after = textOf(await exported());
  for (const { importing } of [processOver(world.store), processOver(world.store)]) {
    assert.equal(await importing({ document: catalogue }, 'env_01', keyed), first);
  }
  await finish(first.id ?? '');
  assert.is(textOf(await exported()), after);
});

test('a dry run tells what would happen, and nothing does', async () => {
  const { world, importing } = processOver();
  const told = await importing({ document: catalogue, dry_run: true });
  assert.is(world.store.log.length, 0);
  const done = await importing({ document: catalogue });
  assert.equal(told.changes, done.changes);
});

test('only what differs is changed', async () => {
  const { importing, exported } = processOver();
  await importing({ document: catalogue });
  const document = copyOf();
  const [pro] = document.plans;
  const [monthly] = pro?.prices ?? [];
  assert.ok(pro && monthly);
  Object.assign(pro, { description: 'For companies' });
  Object.assign(monthly, { amount: '25' });
  Object.assign(document.features[0] ?? {}, { name: 'Larger model' });
  const { changes } = await importing({ document });
  assert.equal(changes, [
    { section: 'features', key: 'large', action: 'updated', details: ['name'] },
    {
      section: 'plans',
      key: 'pro',
      action: 'updated',
      details: ['fields', 'price pro-monthly: amount'],
    },
  ]);
  const after = await exported();
  const plan = after.plans?.find(({ lookup_key }) => lookup_key === 'pro');
  const prices = plan?.prices as readonly { lookup_key?: string; amount?: string }[];
  assert.is(prices.length, 3);
  assert.is(prices.find(({ lookup_key }) => lookup_key === 'pro-monthly')?.amount, '25');
  assert.equal((await importing({ document })).changes, []);
});

test('what the document does not name stays, and goes only when that is asked for', async () => {
  const { importing, exported } = processOver();
  await importing({ document: catalogue });
  const document = copyOf();
  document.plans.pop();
  document.tax_rates.pop();
  document.plans[0]?.prices?.pop();
  document.plans[0]?.entitlements?.pop();
  document.plans[0]?.credit_grants?.pop();
  assert.equal((await importing({ document })).changes, []);
  const pruned = await importing({ document, prune: true });
  assert.equal(actionsOf(pruned), ['old archived', 'pro updated', 'Free archived']);
  assert.equal(pruned.changes[1]?.details, [
    'price Embeddings: ended',
    'entitlement support: deleted',
    'credit grant Welcome: ended',
  ]);
  const left = await exported();
  assert.is(left.plans?.length, 1);
  assert.equal((await importing({ document, prune: true })).changes, []);
});

test('a section that is not given is not pruned', async () => {
  const { importing } = processOver();
  await importing({ document: catalogue });
  const { changes } = await importing({ document: { version: 1, coupons: [] }, prune: true });
  assert.equal(
    changes.map(({ section, action }) => `${section} ${action}`),
    ['coupons archived', 'coupons archived'],
  );
});

test('everything that is wrong is told at once, with its place, and nothing happens', async () => {
  const { world, importing } = processOver();
  const document = copyOf();
  Object.assign(document.features[1] ?? {}, { meter: 'Nowhere', nmae: 'misspelt' });
  Object.assign(document.coupons[0] ?? {}, { percentage_off: '110' });
  Object.assign(document.plans[0]?.prices?.[1] ?? {}, { tiers: [] });
  Object.assign(document.plans[0]?.entitlements?.[1] ?? {}, { static_value: undefined });
  document.tax_rates.push({ name: 'Again', code: 'VAT', percentage_value: '7' });
  const { code, errors } = await rejection(importing({ document }));
  assert.is(code, 'validation_error');
  const pointers = (errors ?? []).map(({ pointer }) => pointer);
  for (const expected of [
    '/document/features/1/meter',
    '/document/features/1/nmae',
    '/document/coupons/0/percentage_off',
    '/document/tax_rates/2',
    '/document/plans/0/prices/1/tiers',
    '/document/plans/0/entitlements/1/static_value',
  ]) {
    assert.ok(pointers.includes(expected), `${expected} is not among ${pointers}`);
  }
  assert.is(world.store.log.length, 0);
});

test('what is for ever cannot be changed by an import', async () => {
  const { importing } = processOver();
  await importing({ document: catalogue });
  const document = copyOf();
  Object.assign(document.pricing_units[0] ?? {}, { conversion_rate: '0.02' });
  const { errors } = await rejection(importing({ document }));
  assert.equal(
    errors?.map(({ pointer }) => pointer),
    ['/document/pricing_units/0/conversion_rate'],
  );
});

test('an import that is too large for one event is refused before anything is written', async () => {
  const { world, importing } = processOver();
  const text = 'x'.repeat(1000);
  const plans = Array.from({ length: 1800 }, (_, index) => ({
    name: `P${index}`,
    description: text,
  }));
  const { code, details } = await rejection(importing({ document: { version: 1, plans } }));
  assert.equal([code, details?.limit], ['invalid_operation', 1_800_000]);
  assert.is(world.store.log.length, 0);
});

test('the same request once more answers the same', async () => {
  const { world, importing } = processOver();
  const idempotency = { key: 'k', operation: 'POST /catalog/import', fields: {} };
  const first = await importing({ document: catalogue }, 'env_01', idempotency);
  const events = world.store.log.length;
  assert.equal(await importing({ document: catalogue }, 'env_01', idempotency), first);
  assert.is(world.store.log.length, events);
});

/** Lets this many appends through, and no more. */
function dieAfter(store: MemoryStore, appends: number): void {
  let left = appends;
  store.fate = () => {
    left -= 1;
    return left >= 0 ? 'written' : 'unavailable';
  };
}

/** The whole of what an undisturbed import writes: appends of claims, steps and the end. */
async function undisturbed() {
  const { world, importing, exported } = processOver();
  await importing({ document: catalogue });
  return { appends: world.store.appends, text: textOf(await exported()) };
}

test('wherever the process dies, all of it happens or nothing', async () => {
  const whole = await undisturbed();
  assert.ok(whole.appends > 16);
  for (let appends = 0; appends <= whole.appends; appends += 1) {
    const dying = processOver();
    const { store } = dying.world;
    dieAfter(store, appends);
    await dying.importing({ document: catalogue }).catch(() => undefined);
    store.fate = () => 'written';
    const next = processOver(store);
    const begun = store.log.find(({ type }) => type === 'CatalogImportStarted');
    if (!begun) {
      assert.is(store.log.length, 0, `${appends} appends`);
      continue;
    }
    const id = (begun.data as { id: string }).id;
    await next.finish(id);
    assert.is(textOf(await next.exported()), whole.text, `${appends} appends`);
    assert.equal((await next.found(id)).import_status, 'finished');
    const events = store.log.length;
    await next.finish(id);
    assert.is(store.log.length, events, `finishing twice after ${appends} appends`);
  }
});

test('a change made after an import stays as it was made', async () => {
  const { importing, exported, finish } = processOver();
  await importing({ document: catalogue });
  const document = copyOf();
  Object.assign(document.plans[0] ?? {}, { name: 'Professional' });
  const { id } = await importing({ document });
  await importing({ document: catalogue });
  const text = textOf(await exported());
  await finish(id ?? '');
  assert.is(textOf(await exported()), text);
});

test('a record that somebody else made in the meantime is left out with all that needs it', async () => {
  const dying = processOver();
  const { store } = dying.world;
  dieAfter(store, 1);
  await rejection(dying.importing({ document: catalogue }));
  store.fate = () => 'written';
  const next = processOver(store);
  const taken = { version: 1, features: [{ name: 'Mine', type: 'boolean', lookup_key: 'large' }] };
  await next.importing({ document: taken });
  const begun = store.log.find(({ type }) => type === 'CatalogImportStarted');
  assert.ok(begun);
  const { id } = begun.data as { id: string };
  await next.finish(id);
  const { refused } = await next.found(id);
  assert.is(refused.length, 3, 'the feature, and the two offers that grant it');
  const left = await next.exported();
  assert.equal(
    left.plans?.map(({ name }) => name),
    ['Free'],
  );
});

test.run();
