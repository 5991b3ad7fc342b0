import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { modificationRoutes } from '../modify/routes.ts';
import { modifySubscriptionSchema } from '../modify/schema.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { lineItemRoutes } from './routes.ts';

const test = suite('lines of subscriptions');

/** A world with a subscription of 31 dollars a month, prorated, in the middle of January. */
async function halfway(prices: readonly object[] = [{ amount: '31' }], body: object = {}) {
  const world = await subscriptionWorld(prices);
  const made = await world.create({ proration_behavior: 'create_prorations', ...body });
  await world.pass(day(1, 16));
  const { id } = made;
  const request = (operation: string, key?: string) => world.request(operation, key);
  return {
    ...world,
    id,
    first: made.line_items[0]?.id ?? '',
    made,
    add: (line: object, key?: string) =>
      callRoute(lineItemRoutes['POST /subscriptions/{id}/lineitems'], request('add', key), {
        params: { id },
        body: line,
      }),
    change: (line: string, change: object) =>
      callRoute(lineItemRoutes['PUT /subscriptions/lineitems/{id}'], request('change'), {
        params: { id: line },
        body: change,
      }),
    end: (line: string, end: object = {}, key?: string) =>
      callRoute(lineItemRoutes['DELETE /subscriptions/lineitems/{id}'], request('end', key), {
        params: { id: line },
        body: end,
      }),
    preview: (change: object) =>
      callRoute(modificationRoutes['POST /subscriptions/{id}/modify/preview'], request('see'), {
        params: { id },
        body: change,
      }),
    execute: (change: object, key?: string) =>
      callRoute(modificationRoutes['POST /subscriptions/{id}/modify/execute'], request('do', key), {
        params: { id },
        body: change,
      }),
  };
}

/** A price of its own, as a request for a line has it. */
const own = (amount: string, more: object = {}) => ({
  price: {
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    price_unit_type: 'FIAT',
    amount,
    ...more,
  },
});

const quantities = (id: string, quantity: string, more: object = {}) => ({
  type: 'quantity_change',
  quantity_change_params: { line_items: [{ id, quantity, ...more }] },
});

test('a line is added for the rest of the period, and whole from the next one on', async () => {
  const { add, id, get, pass, settled } = await halfway();
  const added = await add({ ...own('62'), display_name: 'Support', metadata: { a: 'b' } });
  assert.equal(
    [added.start_date, added.display_name, added.settlement.charge_amount],
    [day(1, 16), 'Support', '32'],
  );
  const [line] = added.settlement.lines;
  assert.is(line?.kind === 'charge' && line.line_item_id, added.id);
  assert.is((await get(id)).line_items.length, 2);
  await pass(day(2, 1));
  const [, , february] = await settled(id);
  assert.is(february?.charge_amount, '93');
});

test('a line under a price of the catalogue is added once for one key', async () => {
  const { add, id, get, priceIds } = await halfway([{ amount: '31' }]);
  const added = await add({ price_id: priceIds[0], quantity: '2' }, 'once');
  assert.is(added.settlement.charge_amount, '32');
  assert.equal(await add({ price_id: priceIds[0], quantity: '2' }, 'once'), added);
  assert.is((await get(id)).line_items.length, 2);
});

test('a line that begins later, ends and is not prorated', async () => {
  const { add } = await halfway();
  const later = await add({ ...own('62'), start_date: day(2, 1), end_date: day(3, 1) });
  assert.equal([later.settlement.charge_amount, later.end_date], ['0', day(3, 1)]);
  const free = await add({ ...own('62'), proration_behavior: 'none' });
  assert.is(free.settlement.charge_amount, '0');
  const past = await rejection(add({ ...own('62'), start_date: '2025-12-31T00:00:00Z' }));
  assert.is(past.errors?.[0]?.pointer, '/start_date');
});

test('a line ends now and is credited where that is asked for, once for its end', async () => {
  const { end, first, get, id, settled, pass } = await halfway();
  const ended = await end(first, { proration_behavior: 'create_prorations' }, 'gone');
  assert.equal([ended.end_date, ended.settlement.credit_amount], [day(1, 16), '16']);
  assert.equal(await end(first, { proration_behavior: 'create_prorations' }, 'gone'), ended);
  assert.is((await rejection(end(first))).details?.reason, 'ended');
  await pass(day(2, 1));
  assert.equal((await get(id)).line_items, []);
  assert.is((await settled(id)).length, 2);
});

test('an end to come can be moved to an earlier instant, and credits what is more', async () => {
  const { end, first } = await halfway();
  const asked = { proration_behavior: 'create_prorations' };
  const later = await end(first, { ...asked, effective_from: day(1, 22) });
  assert.equal([later.end_date, later.settlement.credit_amount], [day(1, 22), '10']);
  const sooner = await end(first, { ...asked, effective_from: day(1, 18) });
  assert.equal([sooner.end_date, sooner.settlement.credit_amount], [day(1, 18), '4']);
  assert.is(
    (await rejection(end(first, { effective_from: day(1, 20) }))).code,
    'invalid_operation',
  );
  const early = await rejection(end(first, { effective_from: '2025-12-31T00:00:00Z' }));
  assert.is(early.errors?.[0]?.pointer, '/effective_from');
});

test('a line ends without a body, and nothing is credited then', async () => {
  const { end, first } = await halfway();
  assert.is((await end(first)).settlement.credit_amount, '0');
});

test('lines that nobody has are not found', async () => {
  const { end, change } = await halfway();
  assert.is((await rejection(end('subs_line_none'))).code, 'not_found');
  assert.is((await rejection(change('subs_line_none', { amount: '1' }))).code, 'not_found');
});

test('another price begins another line in its place, and both sides are settled', async () => {
  const { change, first, get, id } = await halfway();
  const next = await change(first, { amount: '62', metadata: { note: 'dearer' } });
  assert.is.not(next.id, first);
  assert.equal(
    [next.price.amount, next.settlement.credit_amount, next.settlement.charge_amount],
    ['62', '16', '32'],
  );
  const { line_items } = await get(id);
  assert.equal(
    line_items.map(({ start_date, end_date }) => [start_date, end_date]),
    [
      [day(1, 1), day(1, 16)],
      [day(1, 16), undefined],
    ],
  );
  assert.is((await rejection(change(first, { amount: '93' }))).details?.reason, 'ended');
});

test('D69 a price changes from a past instant of the period on, and not from before', async () => {
  const { change, first } = await halfway();
  const next = await change(first, { amount: '62', effective_from: day(1, 6) });
  assert.equal(
    [next.start_date, next.settlement.credit_amount, next.settlement.charge_amount],
    [day(1, 6), '26', '52'],
  );
  const before = await rejection(
    change(next.id, { amount: '93', effective_from: '2025-12-31T00:00:00Z' }),
  );
  assert.is(before.code, 'validation_error');
});

test('metadata of a line changes in place', async () => {
  const { change, first, lines } = await halfway();
  const changed = await change(first, { metadata: { note: 'kept' } });
  assert.equal([changed.id, changed.metadata], [first, { note: 'kept' }]);
  const { items } = await lines({ subscription_line_item_ids: [first] });
  assert.equal(items[0]?.metadata, { note: 'kept' });
});

test('E 11.4 a quantity changes: the preview shows what its execution does', async () => {
  const { preview, execute, first, id, get, lines } = await halfway([{ amount: '50' }]);
  const seen = await preview(quantities(first, '3'));
  assert.equal(
    [seen.settlement.charge_amount, seen.settlement.credit_amount, seen.settlement.net_amount],
    ['51.61', '0', '51.61'],
  );
  assert.is((await get(id)).line_items.length, 1);
  const done = await execute({ ...quantities(first, '3'), quote_id: seen.quote_id });
  assert.equal(
    { ...done.settlement, lines: done.settlement.lines.length },
    { ...seen.settlement, lines: seen.settlement.lines.length },
  );
  assert.equal(
    done.changed_resources.line_items.map(({ quantity, change_action }) => [
      quantity,
      change_action,
    ]),
    [
      ['1', 'ended'],
      ['3', 'created'],
    ],
  );
  const { items } = await lines({ subscription_ids: [id] });
  assert.equal(items.map(({ quantity }) => quantity).sort(), ['1', '3']);
});

test('other figures of a line are previewed, and executed as they were shown', async () => {
  const { preview, execute, first, id, get } = await halfway([{ amount: '50' }]);
  const update = {
    type: 'update_line',
    update_line_params: { id: first, amount: '100', proration_behavior: 'create_prorations' },
  };
  const seen = await preview(update);
  assert.equal([seen.settlement.charge_amount, seen.settlement.credit_amount], ['51.61', '25.81']);
  assert.is((await get(id)).line_items.length, 1);
  const { settlement, changed_resources } = await execute({ ...update, quote_id: seen.quote_id });
  assert.equal([settlement.charge_amount, settlement.credit_amount], ['51.61', '25.81']);
  assert.equal(
    changed_resources.line_items.map(({ change_action }) => change_action),
    ['ended', 'created'],
  );
});

test('the same quantity changes nothing; usage, lines that ended and unknown ones are refused', async () => {
  const { execute, first, made, end, events, id } = await halfway([
    { amount: '50' },
    { type: 'USAGE', amount: '1' },
  ]);
  const before = await events(id);
  assert.is((await execute(quantities(first, '1'))).settlement.net_amount, '0');
  assert.equal(await events(id), before);
  const usage = made.line_items[1]?.id ?? '';
  assert.is((await rejection(execute(quantities(usage, '2')))).code, 'validation_error');
  assert.is((await rejection(execute(quantities('subs_line_none', '2')))).code, 'not_found');
  await end(first);
  assert.is((await rejection(execute(quantities(first, '2')))).details?.reason, 'ended');
});

test('D66 a quote holds for its figures: later within its time, and not after', async () => {
  const { preview, execute, first, world } = await halfway([{ amount: '50' }]);
  const { quote_id, quote_expires_at, settlement } = await preview(quantities(first, '3'));
  assert.is(quote_expires_at, '2026-01-16T00:15:00.000Z');
  world.now = '2026-01-16T00:14:00.000Z' as typeof world.now;
  const done = await execute({ ...quantities(first, '3'), quote_id });
  assert.is(done.settlement.charge_amount, settlement.charge_amount);
  const again = await preview(quantities(done.changed_resources.line_items[1]?.id ?? '', '4'));
  world.now = '2026-01-16T00:30:00.000Z' as typeof world.now;
  const late = await rejection(
    execute({
      ...quantities(done.changed_resources.line_items[1]?.id ?? '', '4'),
      quote_id: again.quote_id,
    }),
  );
  assert.equal([late.code, late.details?.reason], ['version_conflict', 'quote_expired']);
});

test('D66 a quote says what has changed since it was made', async () => {
  const { preview, execute, first, events, id } = await halfway([{ amount: '50' }]);
  const removal = {
    type: 'remove_line',
    remove_line_params: { id: first, proration_behavior: 'create_prorations' },
  };
  const { quote_id } = await preview(removal);
  const sooner = { id: first, effective_from: day(1, 24), proration_behavior: 'create_prorations' };
  await execute({ type: 'remove_line', remove_line_params: sooner });
  const before = await events(id);
  const refused = await rejection(execute({ ...removal, quote_id }));
  assert.is(refused.code, 'version_conflict');
  assert.equal(refused.details, {
    reason: 'quote_outdated',
    quoted: { charge_amount: '0', credit_amount: '25.81' },
    current: { charge_amount: '0', credit_amount: '12.91' },
  });
  assert.equal(await events(id), before);
  assert.is(
    (await rejection(execute({ ...removal, quote_id: 'quote_x' }))).code,
    'validation_error',
  );
});

test('every kind of modification is previewed as it is executed', async () => {
  for (const change of [
    { type: 'add_line', add_line_params: own('62') },
    { type: 'cancel', cancel_params: { cancellation_type: 'immediate' } },
    { type: 'cancel', cancel_params: { cancellation_type: 'end_of_period' } },
  ]) {
    const { preview, execute, get, id } = await halfway();
    const before = await get(id);
    const seen = await preview(change);
    assert.equal(await get(id), before);
    const { quote_id, quote_expires_at: _, ...shown } = seen;
    const done = await execute({ ...change, quote_id });
    assert.is(done.subscription.subscription_status, shown.subscription.subscription_status);
    assert.is(done.settlement.net_amount, shown.settlement.net_amount);
    assert.is(done.settlement.lines.length, shown.settlement.lines.length);
  }
});

test('params go with their type', () => {
  const { success, error } = modifySubscriptionSchema.safeParse({ type: 'cancel' });
  assert.equal([success, error?.issues[0]?.path], [false, ['cancel_params']]);
});

test('a subscription that has ended is not changed', async () => {
  const { cancel, id, add, preview, first, end } = await halfway();
  await cancel(id, { cancellation_type: 'immediate' });
  assert.is((await rejection(add(own('1')))).details?.reason, 'inactive');
  assert.is((await rejection(end(first))).details?.reason, 'inactive');
  assert.is((await rejection(preview(quantities(first, '2')))).code, 'invalid_operation');
});

test.run();
