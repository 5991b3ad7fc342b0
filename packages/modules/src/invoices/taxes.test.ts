import { ReadStreams } from '@counterfoil/engine/define';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { explainedInvoice } from './explaining/explain.ts';
import { proveInvoice } from './proving/prove-invoice.ts';
import type { InvoiceResource } from './schema.ts';
import { billingWorld } from './test-billing-world.ts';
import { day } from './test-invoice-world.ts';

const test = suite('taxes of invoices');

const exemption = { number: 'DE811569869', reason: 'Reverse charge' };

async function taxedWorld() {
  const base = await billingWorld();
  const { customerId, call, request, usageAt } = base;
  return {
    ...base,
    exempt: (tax_exemption: object | null) =>
      call('PUT /customers', { query: { id: customerId }, body: { tax_exemption } }),
    explain: (id: string) => explainedInvoice(request(), id, {} as never, usageAt),
    differences: async (id: string) =>
      (await proveInvoice(request(), id, new ReadStreams(), usageAt)).differences,
  };
}

const figures = ({ subtotal, total_tax, total, tax_exemption, taxes }: InvoiceResource) => ({
  sums: [subtotal, total_tax, total],
  taxes: taxes.map(({ tax_amount }) => tax_amount),
  tax_exemption,
});

test('of a customer who is exempt no tax is taken, and the invoice says why', async () => {
  const { make, exempt, explain, differences, get } = await taxedWorld();
  const taxed = await make();
  assert.equal(figures(taxed), {
    ...{ sums: ['100', '10', '110'], taxes: ['10'], tax_exemption: null },
  });
  await exempt(exemption);
  const { id } = await make();
  const shown = await get(id);
  assert.equal(figures(shown), {
    ...{ sums: ['100', '0', '100'], taxes: [], tax_exemption: exemption },
  });
  assert.equal((await explain(id)).tax_exemption, exemption);
  await exempt(null);
  assert.equal(figures(await make()).sums, ['100', '10', '110']);
  assert.equal((await get(id)).tax_exemption, exemption, 'what is final stays');
  assert.equal(await differences(id), []);
});

test('rates that a request names are not taken of one who is exempt either', async () => {
  const { make, exempt, recompute } = await taxedWorld();
  await exempt({ number: 'EX-1' });
  const named = { tax_rate_overrides: [{ tax_rate_code: 'VAT', currency: 'usd' }] };
  const draft = await make({ ...named, invoice_status: 'DRAFT' });
  assert.equal(figures(draft), {
    ...{ sums: ['100', '0', '100'], taxes: [] },
    tax_exemption: { number: 'EX-1', reason: null },
  });
  await exempt(null);
  const again = await recompute(draft.id);
  assert.equal(figures(again), {
    ...{ sums: ['100', '10', '110'], taxes: ['10'], tax_exemption: null },
  });
});

test('the invoice of a period has the exemption of the instant at which it is made final', async () => {
  const { create, exempt, invoices, pass, passAll, differences } = await taxedWorld();
  await create();
  await passAll(day(2, 1));
  const draft = (await invoices()).at(-1);
  assert.equal([draft?.invoice_status, draft?.total_tax], ['DRAFT', '10']);
  await exempt(exemption);
  await passAll(day(2, 1, 3));
  const final = (await invoices()).at(-1);
  assert.equal(
    [final?.invoice_status, final?.total_tax, final?.tax_exemption],
    ['FINALIZED', '0', exemption],
  );
  await exempt(null);
  await pass(day(2, 2));
  assert.equal(await differences(final?.id ?? ''), []);
});

test('a line of the caller with tax in it comes to its amount', async () => {
  const { make, explain, differences } = await taxedWorld();
  const line = { display_name: 'Setup', amount: '110', quantity: '1', tax_behavior: 'inclusive' };
  const shown = await make({
    subtotal: '110',
    total: '110',
    amount_due: '110',
    line_items: [line],
  });
  assert.equal(figures(shown), {
    ...{ sums: ['110', '10', '110'], taxes: ['10'], tax_exemption: null },
  });
  const [own] = shown.line_items ?? [];
  assert.equal(
    [own?.tax_behavior, own?.tax_amount, shown.total_included_tax, shown.taxes[0]?.taxable_amount],
    ['inclusive', '10', '10', '100'],
  );
  const { sums, taxes } = await explain(shown.id);
  assert.equal(taxes[0]?.included_amount, '10');
  assert.equal(
    sums.find(({ figure }) => figure === 'total')?.terms.map(({ amount }) => amount),
    ['110', '0', '0', '10', '-10'],
  );
  assert.equal(await differences(shown.id), []);
});

test('where nothing would be taken nobody is exempt', async () => {
  const { call, make, exempt, customerId } = await taxedWorld();
  await exempt(exemption);
  const { items } = await call<{ readonly items: readonly { readonly id: string }[] }>(
    'GET /taxes/associations',
    { query: { entity_id: customerId, entity_type: 'customer' } },
  );
  for (const { id } of items) await call('DELETE /taxes/associations/{id}', { params: { id } });
  assert.is((await make()).tax_exemption, null);
});

test.run();
