import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { getInvoice } from '../queries.ts';
import { invoiceSchema } from '../schema.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';
import { withLineUsage } from './line-usage.ts';
import { lineUsageParameters } from './schema.ts';

const test = suite('usage of the lines of invoices');

/** January with calls of three sources, and what comes later for it. */
async function january() {
  const { create, use, pass, invoices, request, usageAt } = await invoiceWorld();
  await create();
  for (const [source, count] of Object.entries({ app: 400, job: 401, web: 399 })) {
    use(count, day(1, source === 'app' ? 3 : source === 'job' ? 4 : 5), source);
  }
  await pass(day(2, 1, 3));
  use(900, day(1, 20), 'late');
  const cycle = (await invoices()).at(-1);
  assert.ok(cycle);
  return async (asked: { expand_by_source?: boolean; group_by?: readonly string[] }) => {
    const { resource } = await getInvoice(request(), cycle.id);
    return invoiceSchema.parse(await withLineUsage(request(), resource, asked, usageAt));
  };
}

test('the cost of a line is spread over its sources, to the cent and the hundredth', async () => {
  const shown = await january();
  const [calls, base] = (await shown({ expand_by_source: true })).line_items ?? [];
  assert.is(calls?.amount, '21');
  assert.equal(calls?.usage_analytics, [
    { source: 'app', usage: '400', cost: '7', percentage: '33.33', event_count: 400 },
    { source: 'job', usage: '401', cost: '7.02', percentage: '33.42', event_count: 401 },
    { source: 'web', usage: '399', cost: '6.98', percentage: '33.25', event_count: 399 },
  ]);
  assert.equal([calls?.usage_breakdown, base?.usage_analytics], [null, null]);
});

test('groups are told by the names that they were asked for, and nothing that was billed changes', async () => {
  const shown = await january();
  const plain = await shown({});
  const { line_items, ...whole } = await shown({ group_by: ['source'] });
  const { line_items: lines, ...other } = plain;
  assert.equal(whole, other);
  assert.equal(
    line_items?.[0]?.usage_breakdown?.map(({ grouped_by }) => grouped_by),
    [{ source: 'app' }, { source: 'job' }, { source: 'web' }],
  );
  assert.equal(
    line_items?.map(({ usage_breakdown: _, ...line }) => line),
    lines?.map(({ usage_breakdown: _, ...line }) => line),
  );
});

test('groups by anything else are refused', () => {
  const { group_by } = lineUsageParameters;
  assert.equal(group_by.parse('source,properties.model'), ['source', 'properties.model']);
  assert.not(group_by.safeParse('feature').success);
  assert.not(group_by.safeParse('properties.').success);
});

test.run();
