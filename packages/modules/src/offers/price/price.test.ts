import type { PriceId, PriceUnitId } from '@counterfoil/kernel';
import { folded, given, pointersOf, problemOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type OfferEvent, offer } from '../offer.ts';
import { after, draft, history, instantAfter, owner, plan, prices } from '../test-offers.ts';
import { priceView } from '../views.ts';
import { endPrice, updatePrice } from './decisions.ts';
import type { UnitSnapshot } from './figures.ts';
import { createPriceSchema, priceSchema, updatePriceSchema } from './schema.ts';

const test = suite('prices of an offer');

const unit: UnitSnapshot = {
  id: 'price_unit_01' as PriceUnitId,
  code: 'credits',
  symbol: 'cr',
  conversion_rate: '0.05',
};
const tiers = [
  { up_to: 10, unit_amount: '50' },
  { up_to: 20, unit_amount: '40' },
  { up_to: null, unit_amount: '30' },
];

const idOf = (events: readonly OfferEvent[], nth = 0): PriceId => {
  const found = events.filter((event) => event.type === 'PriceCreated')[nth];
  if (!found) throw new RangeError('there is no such price');
  return found.data.id;
};
const update = (id: PriceId, request: object) => updatePrice(id, updatePriceSchema.parse(request));
const view = (request: object, ofUnit: UnitSnapshot | null = null) => {
  const [shown] = after(plan(), prices(draft(request, ofUnit))).prices.map(priceView);
  assert.ok(shown);
  return shown;
};

test('a price begins now and has no end unless it is told', () => {
  const shown = view({});
  assert.equal(
    [shown.start_date, shown.end_date, shown.billing_period_count, shown.display_amount],
    [instantAfter(1), undefined, 1, '$10'],
  );
  assert.equal(
    [shown.entity_type, shown.entity_id, shown.currency, shown.billing_cadence, shown.amount],
    ['PLAN', 'plan_01', 'usd', 'RECURRING', '10'],
  );
  assert.equal(priceSchema.parse(shown), shown);
});

test('the cadence is the one that was asked for, and RECURRING when none was', () => {
  assert.is(view({ billing_period: 'ONETIME' }).billing_cadence, 'RECURRING');
  const once = { billing_period: 'ONETIME', billing_cadence: 'ONETIME' };
  assert.is(view(once).billing_cadence, 'ONETIME');
});

test('a trial may have its older name, once', () => {
  const recurring = { type: 'FIXED', invoice_cadence: 'ADVANCE', billing_period: 'MONTHLY' };
  assert.is(view({ ...recurring, trial_period: 14 }).trial_period_days, 14);
  assert.is(view({ ...recurring, trial_period: null }).trial_period_days, undefined);
  assert.throws(() => view({ ...recurring, trial_period: 14, trial_period_days: 7 }));
});

test('what a model does not use is not kept', () => {
  const shown = view({ billing_model: 'TIERED', tier_mode: 'SLAB', tiers });
  assert.equal(
    [shown.amount, shown.tier_mode, shown.tiers?.length, shown.display_amount],
    [undefined, 'SLAB', 3, '$50'],
  );
  const pack = view({ billing_model: 'PACKAGE', transform_quantity: { divide_by: 10 } });
  assert.equal(pack.transform_quantity, { divide_by: 10, round: 'up' });
  assert.is(view({ tier_mode: 'VOLUME', tiers: [], transform_quantity: {} }).tier_mode, undefined);
});

test('a price in a unit keeps the rate and has its amounts in the currency as well', () => {
  const config = { price_unit: 'credits', amount: '100.123456789012345' };
  const request = { amount: null, price_unit_type: 'CUSTOM', price_unit_config: config };
  const shown = view(request, unit);
  assert.equal(
    [shown.price_unit_type, shown.price_unit, shown.price_unit_id, shown.conversion_rate],
    ['CUSTOM', 'credits', 'price_unit_01', '0.05'],
  );
  assert.equal(
    [shown.price_unit_amount, shown.display_price_unit_amount, shown.amount],
    ['100.123456789012345', 'cr100.123456789012345', '5.00617283945061725'],
  );
  const tiered = {
    amount: null,
    billing_model: 'TIERED',
    tier_mode: 'VOLUME',
    price_unit_type: 'CUSTOM',
    price_unit_config: {
      price_unit: 'credits',
      price_unit_tiers: [{ up_to: 5, unit_amount: '2', flat_amount: '20' }, { unit_amount: '1' }],
    },
  };
  assert.equal(view(tiered, unit).tiers, [
    { up_to: 5, unit_amount: '0.1', flat_amount: '1' },
    { unit_amount: '0.05' },
  ]);
});

test('figures in the currency beside those in a unit are refused', () => {
  const request = {
    price_unit_type: 'CUSTOM',
    price_unit_config: { price_unit: 'credits', amount: '1' },
  };
  assert.is(problemOf(() => draft(request, unit)).errors?.[0]?.pointer, '/amount');
});

const refusedFigures: readonly [object, string][] = [
  [{ amount: null }, '/amount'],
  [{ billing_model: 'TIERED', tiers }, '/tier_mode'],
  [{ billing_model: 'TIERED', tier_mode: 'SLAB' }, '/tiers'],
  [{ billing_model: 'TIERED', tier_mode: 'SLAB', tiers: [] }, '/tiers'],
  [{ billing_model: 'TIERED', tier_mode: 'SLAB', tiers: [tiers[2], tiers[0]] }, '/tiers/0/up_to'],
  [{ billing_model: 'TIERED', tier_mode: 'SLAB', tiers: [tiers[1], tiers[0]] }, '/tiers/1/up_to'],
  [{ billing_model: 'PACKAGE' }, '/transform_quantity/divide_by'],
];

for (const [request, pointer] of refusedFigures) {
  test(`figures are refused: ${JSON.stringify(request)}`, () =>
    assert.is(problemOf(() => draft(request)).errors?.[0]?.pointer, pointer));
}

const valid = {
  ...owner,
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ARREAR',
  currency: 'usd',
  amount: '1',
};
const refused: readonly [object, string][] = [
  [{ type: 'USAGE' }, '/meter_id'],
  [{ type: 'USAGE', meter_id: 'meter_1', invoice_cadence: 'ADVANCE' }, '/invoice_cadence'],
  [{ type: 'USAGE', meter_id: 'meter_1', min_quantity: '1' }, '/min_quantity'],
  [{ meter_id: 'meter_1' }, '/meter_id'],
  [{ billing_period: 'ONETIME' }, '/invoice_cadence'],
  [{ billing_cadence: 'ONETIME' }, '/billing_cadence'],
  [{ type: 'USAGE', meter_id: 'meter_1', trial_period_days: 7 }, '/trial_period_days'],
  [{ transform_quantity: { divide_by: 10 } }, '/transform_quantity'],
  [{ tiers }, '/tiers'],
  [{ price_unit_type: 'CUSTOM' }, '/price_unit_config'],
  [{ price_unit_config: { price_unit: 'credits' } }, '/price_unit_config'],
  [{ filter_values: { model: ['large'] } }, '/filter_values'],
  [{ start_date: '2026-02-01T00:00:00Z', end_date: '2026-02-01T00:00:00Z' }, '/end_date'],
  [{ amount: '-1' }, '/amount'],
  [{ amount: '0.0000000000000001' }, '/amount'],
  [{ currency: 'xyz' }, '/currency'],
  [{ billing_period_count: 0 }, '/billing_period_count'],
  [{ entity_type: 'PRICE' }, '/entity_type'],
  [{ lookup_key: 'x'.repeat(256) }, '/lookup_key'],
];

for (const [request, pointer] of refused) {
  test(`a request is refused: ${JSON.stringify(request).slice(0, 80)}`, () =>
    assert.equal(pointersOf(createPriceSchema, { ...valid, ...request }), [pointer]));
}

test('an end before the start that is decided is refused', () => {
  given(offer, history(plan()))
    .when(prices(draft({ end_date: '2025-01-01T00:00:00Z' })))
    .thenProblem('validation_error', '/end_date');
});

test('prices need their offer, in use', () => {
  given(offer, []).when(prices(draft())).thenProblem('not_found');
});

test('equal lookup_keys in one offer are refused, in one request as well', () => {
  const keyed = history(plan(), prices(draft({ lookup_key: 'a' })));
  given(offer, keyed)
    .when(prices(draft({ lookup_key: 'a' })))
    .thenProblem('already_exists', '/lookup_key');
  given(offer, history(plan()))
    .when(prices(draft({ lookup_key: 'a' }), draft({ lookup_key: 'a' })))
    .thenProblem('already_exists', '/lookup_key');
  given(offer, history(plan(), prices(draft({ lookup_key: 'a' }), draft())))
    .when(
      update(idOf(history(plan(), prices(draft({ lookup_key: 'a' }), draft())), 1), {
        lookup_key: 'a',
      }),
    )
    .thenProblem('already_exists', '/lookup_key');
});

test('an offer has at most 1,000 prices', () => {
  const full = history(plan(), prices(...Array.from({ length: 1000 }, () => draft())));
  given(offer, full).when(prices(draft())).thenProblem('invalid_operation');
  given(offer, full)
    .when(update(idOf(full), { amount: '11' }))
    .thenState((state) => assert.is(state?.prices.length, 1001));
});

const begun = history(plan(), prices(draft({ lookup_key: 'monthly' })));
const id = idOf(begun);

test('labels are edited in place', () => {
  given(offer, begun)
    .when(update(id, { display_name: 'Monthly', lookup_key: 'monthly', metadata: { a: 'b' } }))
    .then([
      {
        type: 'PriceUpdated',
        data: { id, changes: { display_name: 'Monthly', metadata: { a: 'b' } } },
      },
    ]);
  given(offer, begun)
    .when(update(id, { lookup_key: 'monthly' }))
    .then([]);
  given(offer, begun)
    .when(update(id, { amount: '10' }))
    .then([]);
});

test('new figures end the price and start the next in the same instant', () => {
  given(offer, begun)
    .when(update(id, { amount: '12', display_name: 'Dearer' }))
    .thenState((state) => {
      const [old, next] = state?.prices ?? [];
      const now = stampAt(begun.length).occurred_at;
      assert.equal([old?.end_date, next?.start_date, next?.end_date], [now, now, null]);
      assert.equal([old?.amount, next?.amount], ['10', '12']);
      assert.equal([old?.display_name, next?.display_name], [null, 'Dearer']);
      assert.equal([next?.parent_price_id, next?.lookup_key], [id, 'monthly']);
      assert.ok(next?.id !== id);
      const held = offer.unique?.(state).map(({ value }) => value);
      assert.equal(held, ['monthly']);
    });
});

test('the parent of every later price is the first of the chain', () => {
  const second = [...begun, ...update(id, { amount: '12' })(folded(offer, begun), instantAfter(5))];
  given(offer, second)
    .when(update(idOf(second, 1), { amount: '13' }))
    .thenState((state) =>
      assert.equal(
        state?.prices.map(({ parent_price_id }) => parent_price_id),
        [null, id, id],
      ),
    );
});

test('figures may begin earlier or later, inside of the time of the price', () => {
  const start = '2026-01-01T00:00:00.000Z';
  const bounded = history(
    plan(),
    prices(draft({ start_date: start, end_date: '2027-01-01T00:00:00.000Z' })),
  );
  const from = (effective_from: string) =>
    given(offer, bounded).when(update(idOf(bounded), { amount: '11', effective_from }));
  from('2026-06-01T00:00:00Z').thenState((state) =>
    assert.equal(
      state?.prices.map(({ start_date, end_date }) => [start_date, end_date]),
      [
        [start, '2026-06-01T00:00:00.000Z'],
        ['2026-06-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
      ],
    ),
  );
  from('2025-12-31T23:59:59Z').thenProblem('validation_error', '/effective_from');
  from('2027-01-01T00:00:00Z').thenProblem('validation_error', '/effective_from');
  given(offer, bounded)
    .when(update(idOf(bounded), { display_name: 'x', effective_from: start }))
    .thenProblem('validation_error', '/effective_from');
});

test('new figures of a price that has not begun begin with it', () => {
  const later = history(plan(), prices(draft({ start_date: '2030-01-01T00:00:00Z' })));
  given(offer, later)
    .when(update(idOf(later), { amount: '11' }))
    .thenState((state) => assert.is(state?.prices[1]?.start_date, '2030-01-01T00:00:00.000Z'));
});

test('a price changes its model, and needs what the new model needs', () => {
  given(offer, begun)
    .when(update(id, { billing_model: 'TIERED', tier_mode: 'VOLUME', tiers }))
    .thenState((state) =>
      assert.equal([state?.prices[1]?.amount, state?.prices[1]?.tiers?.length], [null, 3]),
    );
  given(offer, begun)
    .when(update(id, { billing_model: 'TIERED', tier_mode: 'VOLUME' }))
    .thenProblem('validation_error', '/tiers');
});

test('new figures that the model of the price has no use for are refused', () => {
  const tiered = history(
    plan(),
    prices(draft({ billing_model: 'TIERED', tier_mode: 'SLAB', amount: null, tiers })),
  );
  const config = { price_unit: 'credits', amount: '100' };
  const custom = { amount: null, price_unit_type: 'CUSTOM', price_unit_config: config };
  const inUnit = history(plan(), prices(draft(custom, unit)));
  const cases = [
    [tiered, { amount: '9' }, '/amount'],
    [tiered, { transform_quantity: { divide_by: 10 } }, '/transform_quantity'],
    [begun, { tiers }, '/tiers'],
    [begun, { tier_mode: 'SLAB' }, '/tier_mode'],
    [begun, { transform_quantity: { divide_by: 10 } }, '/transform_quantity'],
    [inUnit, { price_unit_tiers: tiers }, '/price_unit_tiers'],
  ] as const;
  for (const [before, request, pointer] of cases) {
    given(offer, before)
      .when(update(idOf(before), request))
      .thenProblem('validation_error', pointer);
  }
  given(offer, begun)
    .when(update(id, { tiers: [], transform_quantity: {} }))
    .then([]);
});

test('a price stays in its currency or in its unit, at the rate that it was set at', () => {
  const config = { price_unit: 'credits', amount: '100' };
  const custom = { amount: null, price_unit_type: 'CUSTOM', price_unit_config: config };
  const inUnit = history(plan(), prices(draft(custom, unit)));
  given(offer, begun)
    .when(update(id, { price_unit_amount: '1' }))
    .thenProblem('validation_error', '/price_unit_amount');
  given(offer, inUnit)
    .when(update(idOf(inUnit), { amount: '1' }))
    .thenProblem('validation_error', '/amount');
  given(offer, inUnit)
    .when(update(idOf(inUnit), { price_unit_amount: '200' }))
    .thenState((state) =>
      assert.equal([state?.prices[1]?.price_unit?.amount, state?.prices[1]?.amount], ['200', '10']),
    );
});

test('a price ends now unless a later date is given, and gives its key back then', () => {
  const now = stampAt(begun.length).occurred_at;
  given(offer, begun)
    .when(endPrice(id, null))
    .then([{ type: 'PriceEnded', data: { id, end_date: now, is_final: true } }]);
  given(offer, begun)
    .when(endPrice(id, null))
    .thenState((state) => assert.equal(offer.unique?.(state), []));
  const later = '2030-01-01T00:00:00.000Z' as typeof now;
  given(offer, begun)
    .when(endPrice(id, later))
    .then([{ type: 'PriceEnded', data: { id, end_date: later, is_final: false } }]);
  given(offer, begun)
    .when(endPrice(id, '2025-01-01T00:00:00.000Z' as typeof now))
    .thenProblem('validation_error', '/end_date');
});

test('a price that has ended is neither changed nor ended again', () => {
  const ended = [...begun, ...endPrice(id, null)(folded(offer, begun), instantAfter(2))];
  given(offer, ended).when(endPrice(id, null)).thenProblem('invalid_operation');
  given(offer, ended)
    .when(update(id, { display_name: 'x' }))
    .thenProblem('invalid_operation');
  given(offer, begun)
    .when(endPrice('price_x' as PriceId, null))
    .thenProblem('not_found');
});

test('a price whose time has passed by itself gives its key back when it is deleted', () => {
  const brief = history(
    plan(),
    prices(draft({ lookup_key: 'a', end_date: '2026-01-01T00:00:01.500Z' })),
  );
  const passed = [
    ...brief,
    ...history(plan()).map((): OfferEvent => ({ type: 'PlanUpdated', data: { changes: {} } })),
  ];
  const end = {
    type: 'PriceEnded' as const,
    data: {
      id: idOf(brief),
      end_date: '2026-01-01T00:00:01.500Z' as ReturnType<typeof instantAfter>,
      is_final: true,
    },
  };
  given(offer, passed)
    .when(update(idOf(brief), { amount: '1' }))
    .thenProblem('invalid_operation');
  given(offer, passed)
    .when(endPrice(idOf(brief), null))
    .then([end]);
});

test('a price is over at its end, not after it', () => {
  const end_date = instantAfter(2);
  const brief = history(plan(), prices(draft({ end_date })));
  given(offer, brief)
    .when(update(idOf(brief), { display_name: 'x' }))
    .thenProblem('invalid_operation');
});

test('a price that has not begun and is deleted is never in force', () => {
  const start = '2030-01-01T00:00:00.000Z';
  const later = history(plan(), prices(draft({ start_date: start })));
  given(offer, later)
    .when(endPrice(idOf(later), null))
    .thenState((state) => {
      const [price] = state?.prices ?? [];
      assert.equal([price?.start_date, price?.end_date, price?.is_final], [start, start, true]);
    });
});

test.run();
