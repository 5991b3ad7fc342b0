import { type DecimalText, invalidOperation } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rateSettled, type Settled } from '../../subscriptions/index.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { replaceVoided } from '../recalculation/replace.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';
import { voidInvoice } from '../voiding/decisions.ts';
import { lateLines } from './late-usage.ts';
import { lookedAtBy } from './looked-back.ts';
import { settledFor } from './parts.ts';

const test = suite('usage that comes late');

const shown = (each: Invoice | undefined) =>
  each?.lines.map(({ kind, amount }) => `${kind} ${amount}`).join(', ');

test('late usage that fills a commitment gives back all of what was charged for its rest', async () => {
  const { create, use, pass, invoices } = await invoiceWorld();
  await create({ commitment_amount: 20, overage_factor: 2, enable_true_up: true });
  use(600, day(1, 3));
  await pass(day(2, 1, 3));
  const [, january] = await invoices();
  assert.is(shown(january), 'usage 10, true_up 10, fixed 100');
  use(500, day(1, 20));
  use(1100, day(2, 3));
  await pass(day(3, 1, 3));
  const february = (await invoices()).at(-1);
  // All 1,100 of January come to 20, which was billed.
  assert.is(shown(february), 'usage 20, late_usage 10, late_usage -10, fixed 100');
  assert.is(february?.total_tax, '12' as DecimalText);
  use(1100, day(3, 3));
  await pass(day(4, 1, 3));
  assert.is(shown((await invoices()).at(-1)), 'usage 20, fixed 100');
});

/** Two months, of which the second one billed late usage of the first, and is void and billed again. */
async function billedAgain() {
  const world = await invoiceWorld();
  const { create, use, pass, invoices, request, settle } = world;
  await create();
  use(1300, day(1, 3));
  await pass(day(2, 1, 3));
  use(100, day(1, 20));
  await pass(day(3, 1, 3));
  const march = (await invoices()).at(-1);
  assert.ok(march);
  assert.is(shown(march), 'usage 0, late_usage 1, fixed 100');
  const again = async () => {
    await request().execute(invoice, march.id, voidInvoice(march.id));
    await replaceVoided(request(), march.id);
    await settle();
  };
  return { ...world, again };
}

test('what an invoice bills again that is void is not billed a third time', async () => {
  const { again, pass, invoices } = await billedAgain();
  await again();
  await pass(day(3, 2));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, late_usage 1, fixed 100');
  await pass(day(4, 1, 3));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, fixed 100');
});

test('an invoice that bills again leaves out what later ones have billed', async () => {
  const { again, pass, use, invoices } = await billedAgain();
  use(100, day(1, 21));
  await pass(day(4, 1, 3));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, late_usage 1, fixed 100');
  await again();
  await pass(day(4, 2));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, late_usage 1, fixed 100');
});

/** Lets so many months pass, from the first one on; gives the late lines of the invoices of each, by its number. */
async function months(
  { pass, invoices }: Awaited<ReturnType<typeof invoiceWorld>>,
  from: number,
  to: number,
): Promise<Readonly<Record<number, string>>> {
  const late: Record<number, string> = {};
  for (let month = from; month <= to; month += 1) {
    await pass(day(month + 1, 1, 3));
    const lines = (await invoices()).at(-1)?.lines.filter(({ kind }) => kind === 'late_usage');
    if (lines && lines.length > 0) late[month] = lines.map(({ amount }) => amount).join(', ');
  }
  return late;
}

test('usage of any age is billed once, on the next invoice up to a year of months', async () => {
  const world = await invoiceWorld();
  const { create, use } = world;
  await create();
  use(200, day(1, 3));
  await months(world, 1, 5);
  use(100, day(1, 20));
  use(150, day(2, 20));
  assert.equal(await months(world, 6, 8), { 6: '2, 1' });
  await months(world, 9, 12);
  use(50, day(1, 21));
  assert.equal(await months(world, 13, 13), { 13: '1' });
  // Beyond, it waits for the closing whose distance is a power of two.
  use(50, day(1, 22));
  assert.equal(await months(world, 14, 18), { 17: '1' });
});

test('an invoice that has no more room looks at no other settlement', async () => {
  const world = await invoiceWorld();
  const { create, use, request, usage } = world;
  const { id } = await create();
  await months(world, 1, 3);
  use(200, day(1, 20));
  use(150, day(2, 20));
  const on = { settlement_id: '', at: day(1, 1), of_period: false };
  const { settled } = await settledFor(request(), id, on);
  const last = settled.findLast(({ settlement }) => settlement.reason === 'period_closed');
  assert.ok(last);
  const back = { looked: lookedAtBy(last, settled, null), by_amount: [] };
  const { context, moment } = await usage.byNow(request());
  const amounts = async (room?: number) => {
    const rate = (each: Settled) => rateSettled(context, each, moment);
    const late = await lateLines(request(), id, back, rate, room);
    return late.map(({ line }) => line.amount);
  };
  assert.equal([await amounts(), await amounts(1)], [['2', '1'], ['2']]);
});

test('the end of a subscription bills all that came late before', async () => {
  const world = await invoiceWorld();
  const { create, use, call, invoices, settle } = world;
  const { id } = await create();
  await months(world, 1, 15);
  use(200, day(1, 20));
  use(150, day(2, 20));
  await call('POST /subscriptions/{id}/cancel', {
    params: { id },
    body: { cancellation_type: 'immediate' },
  });
  await settle();
  assert.is(shown((await invoices()).at(-1)), 'usage 0, late_usage 2, late_usage 1');
});

test('months that are dropped hold no invoice up, and are billed when they are back', async () => {
  const world = await invoiceWorld();
  const { create, use, usage, readings } = world;
  await create();
  await months(world, 1, 4);
  use(150, day(1, 20));
  const { byNow } = usage;
  const dropped = async (...given: Parameters<typeof byNow>) => {
    const reading = await byNow(...given);
    const { usageIn } = reading.moment;
    const counted: typeof usageIn = (context, question) => {
      const isOld = question.stretches.some(({ span }) => span.start < day(2, 1));
      if (isOld) throw invalidOperation('dropped', { reason: 'no_longer_kept' });
      return usageIn?.(context, question) ?? Promise.resolve([]);
    };
    return { ...reading, moment: { ...reading.moment, usageIn: counted } };
  };
  Object.assign(readings, { byNow: dropped, atOnce: dropped });
  assert.equal(await months(world, 5, 8), {});
  Object.assign(readings, { byNow, atOnce: byNow });
  assert.equal(await months(world, 9, 9), { 9: '1' });
});

test('usage of a line that ended within a period is looked at again too', async () => {
  const world = await invoiceWorld();
  const { create, use, call, pass, settle } = world;
  const { id } = await create();
  const found = await call<{ items: { id: string; meter_id?: string }[] }>(
    'POST /subscriptions/lineitems/search',
    { body: { subscription_ids: [id] } },
  );
  const metered = found.items.find(({ meter_id }) => meter_id);
  await pass(day(1, 16));
  await call('DELETE /subscriptions/lineitems/{id}', {
    params: { id: metered?.id ?? '' },
    body: {},
  });
  await settle();
  await months(world, 1, 2);
  use(150, day(1, 10));
  assert.equal(await months(world, 3, 3), { 3: '1' });
});

test.run();
