import type { Instant } from '@counterfoil/kernel';
import { callRoute, memoryWorld, reactTo, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coupon } from '../coupons/index.ts';
import { feature } from '../features/index.ts';
import { group } from '../groups/index.ts';
import { meter } from '../meters/index.ts';
import { type OfferRoutes, offer, offers as offersModule } from '../offers/index.ts';
import { priceUnit } from '../pricing-units/index.ts';
import { taxRate } from '../taxes/index.ts';
import { importCarriedOut } from './carry-out.ts';
import { catalogTransfer } from './index.ts';
import { catalogTransferRoutes as routes } from './routes.ts';

const test = suite('schedules in a catalogue document');

const aggregates = [
  ...[group, meter, priceUnit, feature, coupon, taxRate, offer],
  ...catalogTransfer.aggregates,
];
const offers = offersModule.routes as unknown as OfferRoutes;
const later = '2026-06-01T00:00:00.000Z' as Instant;
const muchLater = '2026-09-01T00:00:00.000Z' as Instant;

const price = {
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '10',
  lookup_key: 'pro',
};
const grant = { name: 'Welcome', credits: '100', cadence: 'ONETIME' };

const documentOf = (prices: readonly object[], credit_grants: readonly object[] = []) => ({
  version: 1,
  plans: [{ name: 'Pro', lookup_key: 'pro', prices, credit_grants }],
});

interface Row {
  readonly id: string;
  readonly amount?: string;
  readonly start_date: string;
  readonly end_date?: string;
  readonly parent_price_id?: string;
}

function environments() {
  const world = memoryWorld(aggregates);
  const context = (environment: string) => world.request(testPrincipal(environment));
  const call = { world, context };
  return {
    ...call,
    importing: (document: object, options: object = {}, environment = 'env_01') =>
      callRoute(routes['POST /catalog/import'], context(environment), {
        body: { document, ...options },
      }),
    exported: (environment = 'env_01') =>
      callRoute(routes['GET /catalog/export'], context(environment)),
    /** Prices by start, those in force or to come. */
    async schedule(environment = 'env_01'): Promise<readonly Row[]> {
      const listed = callRoute(offers['POST /prices/search'], context(environment), { body: {} });
      const rows = (await listed).items as readonly Row[];
      return rows
        .filter(({ start_date, end_date }) => !end_date || end_date > start_date)
        .filter(({ end_date }) => !end_date || end_date > world.now)
        .toSorted((one, other) => (one.start_date < other.start_date ? -1 : 1));
    },
    reprice: (id: string, body: object, environment = 'env_01') =>
      callRoute(offers['PUT /prices/{id}'], context(environment), { params: { id }, body }),
  };
}

const figures = (rows: readonly Row[]) =>
  rows.map(({ amount, start_date, end_date }) => [amount, start_date, end_date ?? null]);
const pricesOf = ({ plans }: { plans?: readonly { readonly prices?: unknown }[] | undefined }) =>
  plans?.[0]?.prices as readonly Readonly<Record<string, unknown>>[];
const now = '2026-01-01T00:00:00.000Z';

/** An environment in which the price becomes 12 later. */
async function scheduled() {
  const each = environments();
  await each.importing(documentOf([price]));
  const [first] = await each.schedule();
  await each.reprice(first?.id ?? '', { amount: '12', effective_from: later });
  return { ...each, first: first?.id ?? '' };
}

test('the price in force and the one that follows it are exported, and arrive as one schedule', async () => {
  const { exported, importing, schedule } = await scheduled();
  const document = await exported();
  assert.equal(
    pricesOf(document).map(({ amount, start_date, end_date }) => [amount, start_date, end_date]),
    [
      ['10', undefined, later],
      ['12', later, undefined],
    ],
  );
  await importing(document, {}, 'env_02');
  assert.equal(figures(await schedule('env_02')), [
    ['10', now, later],
    ['12', later, null],
  ]);
  assert.equal(figures(await schedule('env_02')), figures(await schedule()));
  const [first, second] = await schedule('env_02');
  assert.is(second?.parent_price_id, first?.id);
  assert.is(JSON.stringify(await exported('env_02')), JSON.stringify(document));
});

test('importing a schedule again changes nothing, before and after its date', async () => {
  const { world, exported, importing } = await scheduled();
  const document = await exported();
  await importing(document, {}, 'env_02');
  const events = world.store.log.length;
  for (const at of [now, later, muchLater]) {
    world.now = at as Instant;
    for (const prune of [false, true]) {
      for (const environment of ['env_01', 'env_02']) {
        assert.equal((await importing(document, { prune }, environment)).changes, []);
      }
    }
  }
  assert.is(world.store.log.length, events);
});

test('a re-pricing that is scheduled elsewhere ends the price there and starts the next', async () => {
  const { exported, importing, schedule } = await scheduled();
  const document = await exported();
  await importing(documentOf([price]), {}, 'env_02');
  const [before] = await schedule('env_02');
  const told = await importing(document, { dry_run: true }, 'env_02');
  const { changes } = await importing(document, {}, 'env_02');
  assert.equal(changes, told.changes);
  assert.equal(changes[0]?.details, ['price pro: end_date', `price pro from ${later}: created`]);
  const after = await schedule('env_02');
  assert.is(after[0]?.id, before?.id, 'the price in force goes on');
  assert.equal(figures(after), figures(await schedule()));
});

test('a schedule that the document does not have any more is called off', async () => {
  const { importing, schedule } = await scheduled();
  const { changes } = await importing(documentOf([price]));
  assert.equal(changes[0]?.details, ['price pro: end_date', `price pro from ${later}: ended`]);
  assert.equal(figures(await schedule()), [['10', now, null]]);
  assert.equal((await importing(documentOf([price]))).changes, []);
});

test('texts of a price that another one follows change in place', async () => {
  const { exported, importing, schedule, first } = await scheduled();
  const document = structuredClone(await exported());
  for (const each of pricesOf(document)) Object.assign(each, { display_name: 'Pro' });
  await importing(document);
  const after = await schedule();
  assert.equal([after.length, after[0]?.id], [2, first]);
  assert.equal((await importing(document)).changes, []);
  assert.equal(await exported(), document);
});

test('prices with one key in one time are refused, and nothing happens', async () => {
  const { world, importing } = environments();
  const cases = [
    [{ ...price, end_date: muchLater }, '/document/plans/0/prices/1/start_date'],
    [price, '/document/plans/0/prices/1/start_date'],
  ] as const;
  for (const [first, pointer] of cases) {
    const document = documentOf([first, { ...price, amount: '12', start_date: later }]);
    const { errors } = await rejection(importing(document));
    assert.equal(
      errors?.map((each) => each.pointer),
      [pointer],
    );
  }
  const twice = await rejection(importing(documentOf([price, { ...price, amount: '12' }])));
  assert.is(twice.errors?.[0]?.pointer, '/document/plans/0/prices/1/lookup_key');
  assert.is(world.store.log.length, 0);
});

test('a price without a key that is to end does so, and is not made a second time', async () => {
  const { importing, schedule } = environments();
  const { lookup_key: _key, ...plain } = price;
  await importing(documentOf([plain]));
  const document = documentOf([
    { ...plain, end_date: later },
    { ...plain, amount: '12', start_date: later },
  ]);
  await importing(document);
  assert.equal(figures(await schedule()), [
    ['10', now, later],
    ['12', later, null],
  ]);
  assert.equal((await importing(document)).changes, []);
});

test('a price that somebody else gives the key in the meantime stays alone', async () => {
  const { world, importing, schedule, reprice, context } = environments();
  await importing(documentOf([price]));
  const [first] = await schedule();
  let left = 1;
  world.store.fate = () => {
    left -= 1;
    return left >= 0 ? 'written' : 'unavailable';
  };
  await rejection(importing(documentOf([{ ...price, amount: '20' }])));
  world.store.fate = () => 'written';
  world.now = '2026-01-01T00:00:01.000Z' as Instant;
  await reprice(first?.id ?? '', { amount: '15' });
  const begun = world.store.log.findLast(({ type }) => type === 'CatalogImportStarted');
  assert.ok(begun);
  const { id } = begun.data as { readonly id: string };
  await reactTo(context('env_01'), importCarriedOut, id);
  assert.equal(figures(await schedule()), [['15', world.now, null]]);
  const found = callRoute(routes['GET /catalog/imports/{id}'], context('env_01'), {
    params: { id },
  });
  assert.is((await found).refused.length, 1);
});

test('a credit grant that is about to end is carried with its end', async () => {
  const { world, exported, importing } = environments();
  const ending = documentOf([], [{ ...grant, end_date: later }]);
  await importing(documentOf([], [grant]));
  assert.equal((await importing(ending)).changes[0]?.details, ['credit grant Welcome: end_date']);
  const document = await exported();
  assert.equal(document.plans, (await exported()).plans);
  await importing(document, {}, 'env_02');
  assert.is(JSON.stringify(await exported('env_02')), JSON.stringify(document));
  assert.is(JSON.stringify(document).includes(`"end_date":"${later}"`), true);
  const events = world.store.log.length;
  for (const at of [now, muchLater]) {
    world.now = at as Instant;
    assert.equal((await importing(document, { prune: true }, 'env_02')).changes, []);
  }
  assert.is(world.store.log.length, events);
});

test('an end of a credit grant that the document does not have makes another grant', async () => {
  const { importing, exported } = environments();
  await importing(documentOf([], [{ ...grant, end_date: later }]));
  await importing(documentOf([], [grant]));
  const grants = (await exported()).plans?.[0]?.credit_grants as readonly object[];
  assert.equal(
    grants.map((each) => Object.hasOwn(each, 'end_date')),
    [false],
  );
  assert.equal((await importing(documentOf([], [grant]))).changes, []);
});

test.run();
