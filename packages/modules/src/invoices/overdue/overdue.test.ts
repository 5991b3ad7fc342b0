import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { billingWorld } from '../test-billing-world.ts';

const test = suite('overdue invoices');

const count = (types: readonly string[]): number =>
  types.filter((type) => type === 'FellOverdue').length;

test('an invoice that is not paid by its due date falls overdue at that instant, once', async () => {
  const { make, pass, typesOf, get } = await billingWorld();
  const due_date = '2026-01-10T00:00:00.000Z';
  const { id } = await make({ due_date });
  await pass('2026-01-09T23:59:59.999Z');
  assert.is(count(typesOf('invoice')), 0);
  await pass('2026-01-15T00:00:00.000Z');
  await pass('2026-02-15T00:00:00.000Z');
  assert.is(count(typesOf('invoice')), 1);
  const shown = await get(id);
  assert.equal([shown.overdue_at, shown.payment_status], [due_date, 'PENDING']);
});

test('what is paid, void or a draft does not, and what is paid in part does', async () => {
  const { make, pass, pay, makeVoid, typesOf, stateOf } = await billingWorld();
  const [paid, part, gone] = [await make(), await make(), await make()];
  await make({ invoice_status: 'DRAFT', due_date: '2026-01-02T00:00:00Z' });
  await pay(paid.id, '110');
  await pay(part.id, '109.99');
  await makeVoid(gone.id);
  await pass('2026-03-01T00:00:00.000Z');
  assert.is(count(typesOf('invoice')), 1);
  assert.is((await stateOf(part.id))?.overdue_at, '2026-01-02T00:00:00.000Z');
});

test('a due date that is put off counts', async () => {
  const { make, update, pass, stateOf } = await billingWorld();
  const { id } = await make();
  await update(id, { due_date: '2026-02-01T00:00:00Z' });
  await pass('2026-01-31T00:00:00.000Z');
  assert.is((await stateOf(id))?.overdue_at, null);
  await pass('2026-02-01T00:00:00.000Z');
  assert.is((await stateOf(id))?.overdue_at, '2026-02-01T00:00:00.000Z');
});

test.run();
