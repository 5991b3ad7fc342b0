// What usage is committed to: asked for, shown, and held against what is settled.
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { meters } from '../../meters/index.ts';
import { lineItemRoutes } from '../lines/routes.ts';
import { modificationRoutes } from '../modify/routes.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';

const test = suite('commitments');

const usage = { type: 'USAGE', amount: '1' };
const factor = { commitment_overage_factor: '2' };

/** A world with a plan of ten a month and of usage, whose price has the last id. */
async function committing(prices: readonly object[] = [{}, usage]) {
  const world = await subscriptionWorld(prices);
  const priceId = world.priceIds.at(-1) ?? '';
  const request = () => world.request('change', crypto.randomUUID());
  return {
    ...world,
    priceId,
    /** A line of usage under a price of its own, as a request has it. */
    own: (more: object = {}) => ({
      price: {
        ...{ type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY' },
        ...{ invoice_cadence: 'ARREAR', price_unit_type: 'FIAT', amount: '3' },
        meter_id: world.meterId,
      },
      ...more,
    }),
    add: (id: string, body: object) =>
      callRoute(lineItemRoutes['POST /subscriptions/{id}/lineitems'], request(), {
        params: { id },
        body,
      }),
    change: (id: string, body: object) =>
      callRoute(lineItemRoutes['PUT /subscriptions/lineitems/{id}'], request(), {
        params: { id },
        body,
      }),
    preview: (id: string, body: object) =>
      callRoute(modificationRoutes['POST /subscriptions/{id}/modify/preview'], request(), {
        params: { id },
        body,
      }),
  };
}

/** The commitments of all settlements, with the months that they are for. */
const heldIn = (settlements: readonly { readonly lines: readonly object[] }[]) =>
  settlements.flatMap(({ lines }) =>
    (lines as readonly { readonly kind: string }[]).flatMap((line) =>
      line.kind === 'commitment' ? [line as unknown as Held] : [],
    ),
  );

interface Held {
  readonly line_item_id: string | null;
  readonly span: { readonly start: string; readonly end: string };
  readonly committed: string;
  readonly overage_factor: string;
  readonly true_up: boolean;
}

test('a line of the plan is committed by the id of its price', async () => {
  const { create, priceId, pass, settled } = await committing();
  const config = { commitment_amount: '50', overage_factor: '1.5', enable_true_up: true };
  const made = await create({ line_item_commitments: { [priceId]: config } });
  const line = made.line_items.find(({ price_type }) => price_type === 'USAGE');
  assert.equal(
    [
      line?.commitment_type,
      line?.commitment_amount,
      line?.commitment_overage_factor,
      line?.commitment_true_up_enabled,
      line?.commitment_windowed,
      line?.commitment_duration,
    ],
    ['amount', '50', '1.5', true, false, undefined],
  );
  await pass(day(2, 1));
  const [held, ...others] = heldIn(await settled(made.id));
  assert.equal(others, []);
  assert.equal(held, {
    kind: 'commitment',
    line_item_id: line?.id,
    span: { start: day(1, 1), end: day(2, 1) },
    committed: '50',
    overage_factor: '1.5',
    true_up: true,
  } as unknown as Held);
});

test('a quantity is committed to by what it costs under its price', async () => {
  const { create, own, pass, settled } = await committing();
  const line = own({ commitment_quantity: '20', ...factor });
  const made = await create({ line_items: [line] });
  const shown = made.line_items.find(({ commitment_type }) => commitment_type === 'quantity');
  assert.is(shown?.commitment_quantity, '20');
  await pass(day(2, 1));
  assert.equal(
    heldIn(await settled(made.id)).map(({ committed }) => committed),
    ['60'],
  );
});

test('all usage is committed to for the terms of a duration, until the end breaks one off', async () => {
  const { create, pass, settled, cancel, get } = await committing();
  const terms = { commitment_amount: '90', commitment_duration: 'QUARTERLY' };
  const { id } = await create({ ...terms, overage_factor: 2, enable_true_up: true });
  const shown = await get(id);
  assert.equal(
    [
      shown.commitment_amount,
      shown.commitment_duration,
      shown.overage_factor,
      shown.enable_true_up,
    ],
    ['90', 'QUARTERLY', '2', true],
  );
  await pass(day(5, 1));
  await cancel(id, { cancellation_type: 'immediate' });
  const held = heldIn(await settled(id));
  assert.equal(
    held.map(({ line_item_id, committed, true_up, span }) => [
      line_item_id,
      committed,
      true_up,
      span.start.slice(0, 10),
      span.end.slice(0, 10),
    ]),
    [
      [null, '90', false, '2026-01-01', '2026-04-01'],
      [null, '90', false, '2026-01-01', '2026-04-01'],
      [null, '90', true, '2026-01-01', '2026-04-01'],
      [null, '90', false, '2026-04-01', '2026-07-01'],
      // 30 of 91 days.
      [null, '29.67', true, '2026-04-01', '2026-05-01'],
    ],
  );
});

test('a commitment is added with a line, changed by a line in its place, and taken away by nothing', async () => {
  const { create, own, add, change, preview, pass, settled } = await committing();
  const { id } = await create();
  await pass(day(1, 11));
  const body = own({ commitment_amount: '31', commitment_type: 'amount', ...factor });
  const seen = await preview(id, { type: 'add_line', add_line_params: body });
  assert.equal(seen.settlement.lines, []);
  const added = await add(id, body);
  assert.is(added.commitment_amount, '31');
  await pass(day(1, 21));
  const more = await change(added.id, { commitment_amount: '62' });
  assert.not(more.id === added.id);
  assert.equal(
    [more.commitment_amount, more.commitment_overage_factor, more.price_id],
    ['62', '2', added.price_id],
  );
  await pass(day(2, 11));
  const none = await change(more.id, { commitment_amount: 0 });
  assert.equal([none.commitment_type, none.commitment_amount], [undefined, undefined]);
  await pass(day(3, 1));
  assert.equal(
    heldIn(await settled(id)).map(({ committed, span }) => [committed, span.start, span.end]),
    [
      // 10, 11 and again 10 days, of 31 and of 28.
      ['10', day(1, 11), day(1, 21)],
      ['22', day(1, 21), day(2, 1)],
      ['22.14', day(2, 1), day(2, 11)],
    ],
  );
});

test('a commitment of each window needs a meter with buckets, and stands with its line alone', async () => {
  const { create, own, add, call, pass, settled, change } = await committing();
  const windowed = { commitment_amount: '5', commitment_windowed: true, ...factor };
  assert.is((await rejection(create({ line_items: [own(windowed)] }))).code, 'invalid_operation');
  const { id: bucketed } = await call(meters.routes, 'POST /meters', {
    ...{ name: 'Load', event_name: 'load', reset_usage: 'BILLING_PERIOD' },
    aggregation: { type: 'MAX', field: 'n', bucket_size: 'HOUR' },
  });
  const line = own(windowed);
  const made = await create({
    line_items: [{ ...line, price: { ...line.price, meter_id: bucketed } }],
  });
  assert.ok(made.line_items.some(({ commitment_windowed }) => commitment_windowed));
  await pass(day(2, 1));
  assert.equal(heldIn(await settled(made.id)), []);
  const plain = await add(made.id, own({ commitment_amount: '5', ...factor }));
  const refused = await rejection(change(plain.id, { commitment_windowed: true }));
  assert.is(refused.errors?.[0]?.pointer, '/commitment_windowed');
});

for (const [name, line, pointer] of [
  ['no factor', { commitment_amount: '1' }, 'commitment_overage_factor'],
  [
    'a factor below one',
    { commitment_amount: '1', commitment_overage_factor: '0.9' },
    'commitment_overage_factor',
  ],
  [
    'two figures',
    { commitment_amount: '1', commitment_quantity: '1', ...factor },
    'commitment_quantity',
  ],
  ['no figure', { commitment_type: 'quantity', ...factor }, 'commitment_quantity'],
  [
    'a figure of another kind',
    { commitment_amount: '1', commitment_type: 'quantity', ...factor },
    'commitment_type',
  ],
  [
    'a shorter time',
    { commitment_amount: '1', commitment_duration: 'WEEKLY', ...factor },
    'commitment_duration',
  ],
  [
    'no time',
    { commitment_amount: '1', commitment_duration: 'ONETIME', ...factor },
    'commitment_duration',
  ],
  [
    'windows and a time',
    { commitment_amount: '1', commitment_duration: 'ANNUAL', commitment_windowed: true, ...factor },
    'commitment_duration',
  ],
] as const) {
  test(`a commitment of a line with ${name} is refused`, async () => {
    const { create, own } = await committing();
    const refused = await rejection(create({ line_items: [own(line)] }));
    assert.equal(
      [refused.code, refused.errors?.[0]?.pointer],
      ['validation_error', `/line_items/0/${pointer}`],
    );
  });
}

test('what is no usage is not committed to, and what is not sold neither', async () => {
  const { create, priceIds } = await committing();
  const config = { commitment_amount: '1', overage_factor: '2' };
  for (const id of [priceIds[0] ?? '', 'price_none']) {
    const refused = await rejection(create({ line_item_commitments: { [id]: config } }));
    assert.is(refused.code, 'validation_error');
  }
});

for (const [name, body, pointer] of [
  ['a factor alone', { overage_factor: '2' }, '/overage_factor'],
  ['a factor below one', { commitment_amount: '1', overage_factor: '0.5' }, '/overage_factor'],
  ['a true-up alone', { enable_true_up: true }, '/enable_true_up'],
  ['parts of a cent', { commitment_amount: '1.005' }, '/commitment_amount'],
  [
    'a shorter time',
    { commitment_amount: '1', commitment_duration: 'DAILY' },
    '/commitment_duration',
  ],
] as const) {
  test(`a commitment of a subscription with ${name} is refused`, async () => {
    const { create } = await committing();
    const refused = await rejection(create(body));
    assert.equal([refused.code, refused.errors?.[0]?.pointer], ['validation_error', pointer]);
  });
}

test('a line is not committed to on its own where all usage is', async () => {
  const { create, own, add } = await committing();
  const line = own({ commitment_amount: '1', ...factor });
  const both = await rejection(create({ commitment_amount: '1', line_items: [line] }));
  assert.is(both.code, 'invalid_operation');
  const { id } = await create({ commitment_amount: '1' });
  assert.is((await rejection(add(id, line))).code, 'invalid_operation');
});

test('a change of plan takes the commitment of all usage along, where its terms are whole periods', async () => {
  const { create, plan, change: _, previewChange } = await committing();
  const target_plan_id = await plan('Max', [{}, usage, { billing_period: 'ANNUAL' }]);
  const { id } = await create({ commitment_amount: '90', commitment_duration: 'QUARTERLY' });
  const to = { target_plan_id, billing_period: 'MONTHLY', billing_cycle: 'anniversary' };
  const kept = await previewChange(id, to);
  const told = ({ carry_over }: typeof kept) =>
    carry_over.find(({ kind }) => kind === 'commitment');
  assert.equal(told(kept)?.reason, 'same_terms');
  const yearly = await previewChange(id, { ...to, billing_period: 'ANNUAL' });
  assert.equal(told(yearly)?.reason, 'other_rhythm');
});

test.run();
