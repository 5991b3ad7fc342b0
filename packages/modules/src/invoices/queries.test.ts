import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { InvoiceResource } from './schema.ts';
import { billingWorld } from './test-billing-world.ts';

const test = suite('invoices that are read');

test('every member is there, null where it has no value', async () => {
  const { make } = await billingWorld();
  const draft: InvoiceResource = await make({ invoice_status: 'DRAFT' });
  const empty = Object.entries(draft).flatMap(([name, value]) => (value === null ? [name] : []));
  assert.equal(empty.toSorted(), [
    'billing_period',
    'billing_sequence',
    'description',
    'due_date',
    'finalized_at',
    'idempotency_key',
    'invoice_number',
    'invoice_pdf_url',
    'overdue_at',
    'paid_at',
    'period_end',
    'period_start',
    'recalculated_invoice_id',
    'subscription_customer_id',
    'subscription_id',
    'tax_exemption',
    'tax_failure',
    'voided_at',
  ]);
  assert.not.ok(JSON.stringify(draft).includes('""'));
});

test('an invoice shows its customer always, and its subscription when it is asked for', async () => {
  const { make, get, create } = await billingWorld();
  const { id: subscription_id } = await create();
  const { id } = await make({ subscription_id });
  const plain = await get(id);
  assert.equal([plain.customer?.external_id, plain.subscription], ['ada', undefined]);
  const asked = await get(id, { expand: 'subscription,coupon_applications,tax_applied' });
  assert.is(asked.subscription?.id, subscription_id);
  assert.is((await rejection(get('inv_x'))).code, 'not_found');
});

test('lists and searches find by every filter, newest first', async () => {
  const { make, search, list, pay, customerId, post, create } = await billingWorld();
  const { id: subscription_id } = await create();
  const period = { period_start: '2026-01-01T00:00:00Z', period_end: '2026-02-01T00:00:00Z' };
  const first = await make({ subscription_id, ...period });
  const draft = await make({ invoice_status: 'DRAFT', invoice_type: 'CREDIT' });
  const paid = await make({ billing_reason: 'PRORATION' });
  await pay(paid.id, '110');
  const { id: other } = await post('/customers', { name: 'Bob', external_id: 'bob' });
  const bobs = await make({ customer_id: other, currency: 'eur' });
  const all = [bobs.id, paid.id, draft.id, first.id];
  const found = async (body: object) => (await search(body)).items.map(({ id }) => id);
  const cases: readonly [object, readonly string[]][] = [
    [{}, all],
    [{ invoice_ids: [first.id, bobs.id] }, [bobs.id, first.id]],
    [{ invoice_status: ['DRAFT'] }, [draft.id]],
    [{ invoice_status: ['DRAFT', 'FINALIZED'] }, all],
    [{ invoice_type: 'CREDIT' }, [draft.id]],
    [{ payment_status: ['SUCCEEDED'] }, [paid.id]],
    [{ billing_reason: 'PRORATION' }, [paid.id]],
    [{ currency: 'EUR' }, [bobs.id]],
    [{ customer_id: other }, [bobs.id]],
    [{ external_customer_id: 'ada' }, [paid.id, draft.id, first.id]],
    [{ external_customer_id: 'nobody' }, []],
    [{ subscription_id }, [first.id]],
    [{ subscription_customer_id: customerId }, []],
    [
      { period_start_gte: '2026-01-01T00:00:00Z', period_end_lte: '2026-02-01T00:00:00Z' },
      [first.id],
    ],
    [{ period_start_lte: '2025-12-31T00:00:00Z' }, []],
    [{ period_end_gte: '2026-02-01T00:00:00Z' }, [first.id]],
  ];
  for (const [body, ids] of cases) assert.equal(await found(body), ids, JSON.stringify(body));
  const drafts = await list({ invoice_status: 'DRAFT,SKIPPED', limit: '1' });
  assert.equal([drafts.items.length, drafts.pagination.total], [1, 1]);
});

test('skip_line_items leaves lines out, and nothing else', async () => {
  const { make, search, list } = await billingWorld();
  const { line_items, ...rest } = await make();
  assert.is(line_items?.length, 1);
  assert.equal((await search({ skip_line_items: true })).items, [rest]);
  assert.equal((await list({ skip_line_items: 'true' })).items, [rest]);
});

test.run();
