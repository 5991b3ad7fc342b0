import { published, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { invoice } from '../invoice.ts';
import { invoicePublicEvents } from '../public-events.ts';
import { invoiceSchema } from '../schema.ts';
import { billingWorld } from '../test-billing-world.ts';

const test = suite('changes of invoices, and messages about them');

test('what is left out stays, and the same again is no event', async () => {
  const { make, update, typesOf } = await billingWorld();
  const { id, total } = await make({ description: 'May' });
  const due_date = '2026-02-01T00:00:00.000Z';
  const shown = await update(id, { due_date, metadata: { a: '1' } });
  assert.equal([shown.due_date, shown.metadata, shown.description], [due_date, { a: '1' }, 'May']);
  assert.is(shown.total, total);
  const count = typesOf('invoice').length;
  await update(id, { due_date, metadata: { a: '1' } });
  await update(id, {});
  assert.is(typesOf('invoice').length, count);
  const cleared = await update(id, {
    description: '',
    invoice_pdf_url: 'https://example.com/1.pdf',
  });
  assert.equal([cleared.description, cleared.invoice_pdf_url], [null, 'https://example.com/1.pdf']);
});

test('nothing of a void invoice falls due', async () => {
  const { make, update, makeVoid } = await billingWorld();
  const { id } = await make();
  await makeVoid(id);
  const problem = await rejection(update(id, { due_date: '2026-02-01T00:00:00Z' }));
  assert.equal([problem.code, problem.details?.reason], ['invalid_operation', 'voided']);
  assert.equal((await update(id, { metadata: { a: '1' } })).metadata, { a: '1' });
});

test('apply_discount computes a draft again, and nothing else', async () => {
  const { make, update, post, customerId } = await billingWorld();
  const { id } = await make({ invoice_status: 'DRAFT' });
  await post('/taxes/rates', { name: 'City', code: 'CITY', percentage_value: '1' });
  const association = { tax_rate_code: 'CITY', entity_type: 'customer', entity_id: customerId };
  await post('/taxes/associations', association);
  assert.is((await update(id, { metadata: { a: '1' } })).total_tax, '10');
  assert.is((await update(id, { apply_discount: true })).total_tax, '11');
  const { id: final } = await make();
  const problem = await rejection(update(final, { apply_discount: true }));
  assert.is(problem.details?.reason, 'no_draft');
});

test('only what was final is sent to a customer', async () => {
  const { make, send, makeVoid } = await billingWorld();
  const draft = await make({ invoice_status: 'DRAFT' });
  assert.is((await rejection(send(draft.id))).details?.reason, 'not_final');
  const { id, invoice_number } = await make();
  assert.match((await send(id)).message, `Invoice ${invoice_number}`);
  await makeVoid(id);
  await send(id);
  assert.is((await rejection(send('inv_x'))).code, 'not_found');
});

test('every turn has its message, with the whole invoice and its customer', async () => {
  const { make, update, send, pay, makeVoid, messages, finalize, request, pass } =
    await billingWorld();
  const { id } = await make({ invoice_status: 'DRAFT' });
  await finalize(id);
  await update(id, { metadata: { a: '1' } });
  await send(id);
  await pay(id, '40');
  await pass('2026-01-03T00:00:00.000Z');
  await makeVoid(id);
  assert.equal(await messages(id), [
    'invoice.update',
    'invoice.update.finalized',
    'invoice.update',
    'invoice.communication.triggered',
    'invoice.update.payment',
    'invoice.payment.overdue',
    'invoice.update.voided',
  ]);
  for (const { body } of await published(request(), invoicePublicEvents, invoice, id)) {
    const shown = invoiceSchema.parse(body.invoice);
    assert.equal(shown, body.invoice);
    assert.is(shown.customer?.external_id, 'ada');
  }
});

test('a message can be had again: the last turn, or the one that is named', async () => {
  const { make, tell, makeVoid, messages } = await billingWorld();
  const { id } = await make();
  const before = (await messages(id)).length;
  await tell(id);
  await tell(id, { event_type: 'invoice.update.payment' });
  await makeVoid(id);
  await tell(id);
  assert.equal((await messages(id)).slice(before), [
    'invoice.update.finalized',
    'invoice.update.payment',
    'invoice.update.voided',
    'invoice.update.voided',
  ]);
});

test.run();
