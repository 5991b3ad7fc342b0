import { ReadStreams } from '@counterfoil/engine/define';
import type { MemoryWorld } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { invoice } from '../invoice.ts';
import { replaceVoided } from '../recalculation/replace.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';
import { voidInvoice } from '../voiding/decisions.ts';
import { proveInvoice } from './prove-invoice.ts';

const test = suite('invoices that are computed again');

async function provingWorld() {
  const world = await invoiceWorld();
  /** The differences of all invoices that are final, or were skipped. */
  const prove = async () => {
    const read = new ReadStreams();
    const found: string[] = [];
    for (const { id, invoice_status } of await world.invoices()) {
      if (invoice_status === 'DRAFT') continue;
      const proven = await proveInvoice(world.request(), id, read, world.usageAt);
      assert.is(proven.problem, null);
      for (const { display_name, figure, expected, found: recorded } of proven.differences) {
        found.push(`${display_name ?? 'invoice'} ${figure}: ${expected}, not ${recorded}`);
      }
    }
    return found;
  };
  return { ...world, prove };
}

/** Changes what is recorded in the first event of a type, behind the back of everybody. */
function tamper<Data>({ store }: MemoryWorld, type: string, change: (data: Data) => void): void {
  const event = store.log.findLast((each) => each.type === type);
  assert.ok(event, `there is no ${type}`);
  change(event.data as Data);
}

interface Sold {
  readonly lines: {
    price: { amount: string; tiers: { unit_amount: string }[] | null };
  }[];
}

interface Figures {
  readonly lines: { quantity: string; amount: string; tax: string }[];
  total: string;
}

/** A month with a coupon, a tax and credits. */
async function january() {
  const world = await provingWorld();
  const { id: coupon } = await world.coupon();
  await world.wallet('5');
  await world.create({ coupons: [coupon] });
  world.use(1300, day(1, 3));
  await world.pass(day(2, 1, 3));
  return world;
}

test('what nobody has touched comes out as it was recorded', async () => {
  const { prove } = await january();
  assert.equal(await prove(), []);
});

test('a changed unit price is found, of usage and of what is charged in advance', async () => {
  const { prove, world } = await january();
  tamper<Sold>(world, 'SubscriptionCreated', ({ lines }) => {
    for (const { price } of lines) {
      if (price.tiers?.[0]) price.tiers[0].unit_amount = '0.03';
    }
  });
  const [first, ...others] = await prove();
  assert.is(first, 'Calls amount: 32, not 22');
  assert.ok(others.some((each) => each.startsWith('invoice subtotal: 132, not 122')));
  tamper<Sold>(world, 'SubscriptionCreated', ({ lines }) => {
    for (const { price } of lines) {
      if (price.tiers?.[0]) price.tiers[0].unit_amount = '0.02';
      else price.amount = '90';
    }
  });
  assert.equal(await prove(), ['Base amount: 90, not 100', 'Base amount: 90, not 100']);
});

test('a changed quantity is found', async () => {
  const { prove, world } = await january();
  tamper<Figures>(world, 'InvoiceFinalized', ({ lines }) => {
    if (lines[0]) lines[0].quantity = '1100';
  });
  assert.equal(await prove(), ['Calls quantity: 1200, not 1100']);
});

test('a changed figure of the whole is found', async () => {
  const { prove, world } = await january();
  tamper<Figures>(world, 'InvoiceFinalized', (figures) => {
    figures.total = '110.78';
  });
  assert.equal(await prove(), ['invoice total: 115.78, not 110.78']);
});

test('a usage event that is gone, or lies elsewhere, is found', async () => {
  for (const change of [
    (calls: { at: unknown }[]) => calls.splice(7, 1, { ...calls[7], at: day(5, 1) }),
    (calls: { at: unknown }[]) => {
      // What comes after it keeps its position.
      calls.splice(7, 1, { at: day(5, 1), customerId: 'nobody' } as never);
    },
  ]) {
    const { prove, calls } = await january();
    change(calls as never);
    const found = await prove();
    assert.is(found[0], 'Calls quantity: 1199, not 1200');
    assert.is(found[1], 'Calls amount: 21.99, not 22');
  }
});

test('a tax rate, a coupon and credits that were recorded otherwise are found', async () => {
  const { prove, world } = await january();
  tamper<{ taxes: { tax_amount: string }[]; taken: { amount: string }[] }>(
    world,
    'InvoiceFinalized',
    ({ taxes, taken }) => {
      if (taxes[0]) taxes[0].tax_amount = '11';
      if (taken[0]) taken[0].amount = '4';
    },
  );
  const found = await prove();
  assert.ok(found.includes('Calls credits: 4, not 5'));
  assert.ok(found.some((each) => /^invoice tax .*: 10.98, not 11$/.test(each)));
});

test('late usage, commitments, and what is billed again come out as they were', async () => {
  const { prove, create, use, pass, invoices, request, settle } = await provingWorld();
  await create({ commitment_amount: 20, overage_factor: 2, enable_true_up: true });
  use(600, day(1, 3));
  await pass(day(2, 1, 3));
  use(900, day(1, 20));
  use(1100, day(2, 3));
  await pass(day(3, 1, 3));
  const march = (await invoices()).at(-1);
  assert.ok(march);
  await request().execute(invoice, march.id, voidInvoice(march.id));
  await replaceVoided(request(), march.id);
  await settle();
  use(100, day(2, 20));
  await pass(day(4, 1, 3));
  assert.equal(await prove(), []);
  assert.ok(
    (await invoices()).some(({ lines }) => lines.some(({ kind }) => kind === 'late_usage')),
  );
});

test('changes in the middle of a period, a pause and an end come out as they were', async () => {
  const { prove, create, use, pass, call, basePriceId, invoices } = await provingWorld();
  const { id } = await create({ proration_behavior: 'create_prorations' });
  use(300, day(1, 3));
  await pass(day(1, 10, 5));
  const act = (name: string, body: object) =>
    call(`POST /subscriptions/{id}/${name}`, { params: { id }, body });
  const added = await call<{ id: string }>('POST /subscriptions/{id}/lineitems', {
    params: { id },
    body: { price_id: basePriceId, quantity: '2' },
  });
  await pass(day(1, 15));
  await call('PUT /subscriptions/lineitems/{id}', {
    params: { id: added.id },
    body: { amount: '70' },
  });
  await pass(day(1, 20));
  await act('pause', { pause_mode: 'immediate' });
  await pass(day(1, 25));
  await act('resume', { resume_mode: 'immediate' });
  await pass(day(3, 20));
  use(500, day(3, 16));
  await act('cancel', {
    ...{ cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
  });
  await pass(day(4, 20));
  assert.ok((await invoices()).length >= 5);
  assert.equal(await prove(), []);
});

test.run();
