import type { Instant, PriceId } from '@counterfoil/kernel';
import { folded, given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type OfferEvent, offer } from '../offer.ts';
import { draft, history, instantAfter, plan, prices } from '../test-offers.ts';
import { endPrice, updatePrice } from './decisions.ts';
import { updatePriceSchema } from './schema.ts';

const test = suite('prices that follow one another');

/** After the re-pricing has been asked for, and before the one after it. */
const soon = instantAfter(6);
const later = '2030-01-01T00:00:00.000Z' as Instant;
const update = (id: PriceId, request: object) => updatePrice(id, updatePriceSchema.parse(request));
const idOf = (events: readonly OfferEvent[], nth = 0): PriceId => {
  const found = events.filter((event) => event.type === 'PriceCreated')[nth];
  assert.ok(found);
  return found.data.id;
};

const begun = history(plan(), prices(draft({ lookup_key: 'monthly' })));
const first = idOf(begun);

/** The price becomes 12 at some instant. */
const repriced = (from: Instant): readonly OfferEvent[] =>
  history(
    plan(),
    prices(draft({ lookup_key: 'monthly' })),
    update(first, { amount: '12', effective_from: from }),
  );
const scheduled = repriced(later);
const second = idOf(scheduled, 1);

const heldAfter = (events: readonly OfferEvent[]) =>
  offer
    .unique?.(folded(offer, events))
    .filter(({ name }) => name === 'price_lookup_key')
    .map(({ value }) => value);
const time = (events: readonly OfferEvent[]) =>
  folded(offer, events)?.prices.map(({ amount, start_date, end_date }) => [
    amount,
    start_date,
    end_date,
  ]);

test('a price that another one follows later is edited in place until then', () => {
  given(offer, scheduled)
    .when(update(first, { display_name: 'Monthly' }))
    .then([{ type: 'PriceUpdated', data: { id: first, changes: { display_name: 'Monthly' } } }]);
});

test('it may change once more before the other one begins', () => {
  const again = [
    ...scheduled,
    ...update(first, { amount: '11', effective_from: '2028-01-01T00:00:00Z' })(
      folded(offer, scheduled),
      instantAfter(scheduled.length),
    ),
  ];
  const start = instantAfter(1);
  assert.equal(time(again), [
    ['10', start, '2028-01-01T00:00:00.000Z'],
    ['12', later, null],
    ['11', '2028-01-01T00:00:00.000Z', later],
  ]);
  assert.equal(
    folded(offer, again)?.prices.map(({ parent_price_id }) => parent_price_id),
    [null, first, first],
  );
  assert.equal(heldAfter(again), ['monthly']);
});

test('the prices of a chain hold their key together, each until it is over', () => {
  assert.equal(heldAfter(scheduled), ['monthly']);
  const calledOff = [
    ...scheduled,
    ...endPrice(second, null)(folded(offer, scheduled), instantAfter(scheduled.length)),
  ];
  assert.equal(heldAfter(calledOff), ['monthly'], 'the first is in force and has it');
  given(offer, calledOff)
    .when(prices(draft({ lookup_key: 'monthly' })))
    .thenProblem('already_exists', '/lookup_key');
  const renamed = [
    ...scheduled,
    ...update(second, { lookup_key: 'yearly' })(
      folded(offer, scheduled),
      instantAfter(scheduled.length),
    ),
  ];
  assert.equal(heldAfter(renamed)?.toSorted(), ['monthly', 'yearly']);
});

test('a key is free when the last of its chain ends and the others are over', () => {
  const passed = repriced(soon);
  const padded = [
    ...passed,
    ...Array.from(
      { length: 4 },
      (): OfferEvent => ({ type: 'PlanUpdated', data: { changes: {} } }),
    ),
  ];
  const ended = [
    ...padded,
    ...endPrice(idOf(passed, 1), null)(folded(offer, padded), instantAfter(padded.length)),
  ];
  assert.equal(heldAfter(padded), ['monthly']);
  assert.equal(heldAfter(ended), []);
});

test('a price cannot end after the next one begins, for both would be charged', () => {
  const sooner = '2029-01-01T00:00:00.000Z' as Instant;
  given(offer, scheduled)
    .when(endPrice(first, '2031-01-01T00:00:00.000Z' as Instant))
    .thenProblem('validation_error', '/end_date');
  given(offer, scheduled)
    .when(endPrice(first, sooner))
    .then([{ type: 'PriceEnded', data: { id: first, end_date: sooner, is_final: false } }]);
  given(offer, scheduled)
    .when(
      prices({ ...draft({ start_date: sooner, lookup_key: 'monthly' }), parent_price_id: first }),
    )
    .thenProblem('validation_error', '/start_date');
});

test('a price in force and the one that follows it both count', () => {
  const many = prices(...Array.from({ length: 999 }, () => draft()));
  const almost = history(plan(), many);
  const id = idOf(almost);
  const dearer = update(id, { amount: '12', effective_from: later });
  const full = history(plan(), many, dearer);
  given(offer, full).when(prices(draft())).thenProblem('invalid_operation');
  given(offer, full)
    .when(update(idOf(full, 1), { amount: '12', effective_from: later }))
    .thenProblem('invalid_operation');
  given(offer, full)
    .when(update(idOf(full, 1), { amount: '12' }))
    .thenState((state) => assert.is(state?.prices.length, 1001));
});

test.run();
