import { gunzipSync } from 'node:zlib';
import type { Exporter } from '@counterfoil/exporter';
import { parquetReadObjects } from 'hyparquet';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack } from '../stack.ts';
import { type S3Server, startS3Server } from '../storage/s3-server.ts';
import { endedRun, exportsTo, startTestExporter } from './exporting.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('kinds of exports');

let stack: SharedStack;
let storage: S3Server;
let exporter: Exporter;
test.before(async () => {
  [stack, storage] = await Promise.all([sharedStack(), startS3Server()]);
  exporter = await startTestExporter(stack);
});

test.after(async () => {
  await exporter?.stop();
  await storage?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Answer = any;
type Row = Readonly<Record<string, unknown>>;

/** The columns of the contract (E 23.3). Ours follow them. */
const contract = {
  invoice:
    'id tenant_id environment_id customer_id subscription_id invoice_number invoice_type invoice_status payment_status currency amount_due amount_paid amount_remaining subtotal total total_discount total_tax adjustment_amount refunded_amount billing_sequence description due_date paid_at voided_at finalized_at billing_period period_start period_end invoice_pdf_url billing_reason metadata idempotency_key version status created_by updated_by created_at updated_at',
  credit_topups:
    'topup_id external_id name wallet_id amount credit_balance_before credit_balance_after reference_id transaction_reason created_at',
  credit_usage:
    'name customer_external_id customer_id current_balance real_time_balance number_of_wallets',
  usage_analytics:
    'customer_name customer_id customer_external_id start_time end_time feature_name feature_id feature_group_name event_name event_count aggregation_field total_usage total_cost currency source',
  events:
    'id tenant_id environment_id external_customer_id customer_id subscription_id sub_line_item_id price_id meter_id feature_id event_name source timestamp ingested_at period_id qty_total provisional_usage_charges properties unique_hash',
} as const;

/** A value as a text, the same in each format. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The rows of CSV as a reader of RFC 4180 has them. A text that would be a formula has lost the apostrophe. */
function rowsOfCsv(text: string): readonly Row[] {
  const lines: string[][] = [[]];
  for (const [, cell = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g)) {
    const plain = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
    lines.at(-1)?.push(plain.replace(/^'(?=[=+@-])/, ''));
    if (end === '\r\n') lines.push([]);
  }
  const [names = [], ...rows] = lines.slice(0, -1);
  return rows.map((cells) => Object.fromEntries(names.map((name, place) => [name, cells[place]])));
}

/** The forms of a file, each with a reader of its rows. */
const forms = {
  csv: { job: { format: 'csv' }, read: async (file: Buffer) => rowsOfCsv(file.toString()) },
  ndjson: {
    job: { format: 'ndjson' },
    read: async (file: Buffer): Promise<readonly Row[]> =>
      gunzipSync(file)
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
  },
  parquet: {
    job: { format: 'parquet' },
    read: async (stored: Buffer): Promise<readonly Row[]> => {
      const file = new Uint8Array(stored).buffer;
      return parquetReadObjects({ file });
    },
  },
} as const;

/** A tenant with exports, and the rows of a run of one by hand. */
async function exporting(seed: string, now: string) {
  const tenant = await onTestClock(stack, seed, now);
  await untilUsageIsShown(tenant);
  const { schedule } = await exportsTo(tenant, storage, seed);
  const manifestOf = async (key: string): Promise<Answer> =>
    JSON.parse((await storage.get(key)).toString());
  const rowsOf = async (
    entity_type: string,
    { start, end }: { readonly start: string; readonly end: string },
    { form = 'ndjson', ...job }: { readonly form?: keyof typeof forms } & Row = {},
  ) => {
    const key_prefix = `${seed}/${form}-${job.window_by ?? 'recorded'}`;
    // Paused, so that no window of its own is exported.
    const { id } = await schedule(
      { entity_type, enabled: false },
      { key_prefix, ...forms[form].job, ...job },
    );
    const range = { start_time: start, end_time: end };
    const { task_id } = await tenant.ok('POST', `/tasks/scheduled/${id}/run`, range);
    const run = await endedRun(tenant, task_id);
    assert.is(run.task_status, 'COMPLETED', run.error_summary);
    const manifest = await manifestOf(run.metadata.manifest_key);
    const file = await storage.get(manifest.files[0].key);
    return { rows: await forms[form].read(file), manifest, file };
  };
  return { tenant, schedule, rowsOf, manifestOf };
}

/** Sells a plan with a fixed charge and a price of calls, with a discount and a tax, to a customer with two wallets. */
async function sold(tenant: ClockedTenant) {
  const post = (path: string, body: object): Promise<Answer> => tenant.ok('POST', path, body);
  const meter = await post('/meters', {
    ...{ name: 'Calls', event_name: 'call', aggregation: { type: 'SUM', field: 'n' } },
  });
  const group = await post('/groups', {
    ...{ name: 'Core', lookup_key: 'core', entity_type: 'feature' },
  });
  const feature = await post('/features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meter.id, group_id: group.id },
  });
  const plan = await post('/plans', { name: 'Pro' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' },
    ...{ billing_model: 'FLAT_FEE', start_date: '2020-01-01T00:00:00Z' },
  };
  await post('/prices', { ...price, type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '100' });
  await post('/prices', {
    ...{ ...price, type: 'USAGE', invoice_cadence: 'ARREAR', amount: '0.5', meter_id: meter.id },
  });
  const customer = await post('/customers', {
    ...{ name: '=Ada', external_id: 'ada', metadata: { tier: 'gold, "old"' } },
  });
  await post('/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '10' });
  await post('/taxes/associations', {
    ...{ tax_rate_code: 'VAT', entity_type: 'customer', entity_id: customer.id },
  });
  const coupon = await post('/coupons', {
    ...{ name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'forever' },
  });
  const wallet = (body: object) => post('/wallets', { customer_id: customer.id, ...body });
  const wallets = [
    await wallet({ currency: 'usd', initial_credits_to_load: '5', metadata: { use: 'main' } }),
    await wallet({ currency: 'usd', allow_multiple: true, initial_credits_to_load: '2.5' }),
    await wallet({ currency: 'eur', initial_credits_to_load: '7' }),
  ];
  const subscription = await post('/subscriptions', {
    ...{ customer_id: customer.id, plan_id: plan.id, currency: 'usd' },
    ...{ billing_period: 'MONTHLY', coupons: [coupon.id] },
  });
  return { meter, feature, customer, wallets, subscription };
}

const record = async (tenant: ClockedTenant, events: readonly object[]): Promise<void> => {
  const shown = async () => (await tenant.call('GET', '/events')).body.events?.length ?? 0;
  const wanted = (await shown()) + events.length;
  await tenant.ok('POST', '/events/bulk', { events });
  await eventually(
    async () => (await shown()) === wanted,
    () => 'the usage was never shown',
  );
};

const call = (event_id: string, timestamp: string, n: number, source: string) => ({
  ...{ event_name: 'call', external_customer_id: 'ada', event_id, timestamp, source },
  properties: { n },
});

/** The final invoices of a tenant, the oldest first. */
const invoicesOf = (tenant: ClockedTenant, count: number): Promise<readonly Answer[]> =>
  eventually(
    async () => {
      const { items } = await tenant.ok('POST', '/invoices/search', { limit: 10 });
      const final = items.filter((each: Answer) => each.invoice_status === 'FINALIZED');
      if (final.length !== count) return false;
      const shown = final.map((each: Answer) => tenant.ok('GET', `/invoices/${each.id}`));
      return (await Promise.all(shown)).sort((left, right) => (left.id < right.id ? -1 : 1));
    },
    () => `there never were ${count} final invoices`,
  );

/** The rows that an export is to have, by what the API answers. */
async function expectedRows(tenant: ClockedTenant, { customer, wallets }: Answer) {
  const invoices = await invoicesOf(tenant, 2);
  const ofWallets = await Promise.all(
    wallets.map(async ({ id }: Answer) => ({
      balance: await tenant.ok('GET', `/wallets/${id}/balance/real-time`),
      entries: (await tenant.ok('GET', `/wallets/${id}/transactions?limit=100`)).items,
    })),
  );
  const loads = ofWallets
    .flatMap(({ entries }) => entries)
    .filter((each) => each.type === 'credit' && each.transaction_status === 'completed');
  const usage = await tenant.ok('POST', '/events/analytics', {
    ...{ customer_id: customer.id, start_time: year.start, end_time: year.end },
    ...{ group_by: ['source'], expand: ['meter', 'feature'] },
  });
  const named = { name: '=Ada', external_id: 'ada' };
  const [main, second, euros] = ofWallets.map(({ balance }) => balance);
  const usd = [main, second];
  const sum = (figures: readonly string[]) => String(figures.reduce((all, one) => all + +one, 0));
  const credits = (currency: string, own: readonly Answer[]) => ({
    ...{ name: '=Ada', customer_external_id: 'ada', customer_id: customer.id, currency },
    current_balance: sum(own.map(({ credit_balance }) => credit_balance)),
    real_time_balance: sum(own.map(({ real_time_credit_balance }) => real_time_credit_balance)),
    number_of_wallets: own.length,
    ...{ customer_tier: 'gold, "old"', use: currency === 'usd' ? 'main' : null },
  });
  return {
    invoice: invoices,
    invoice_lines: invoices.flatMap(({ line_items, invoice_number, invoice_status, updated_at }) =>
      line_items.map((line: Answer) => ({ ...line, invoice_number, invoice_status, updated_at })),
    ),
    credit_topups: loads.map((each) => ({ ...each, ...named, topup_id: each.id })),
    credit_usage: [credits('eur', [euros]), credits('usd', usd)],
    usage_analytics: usage.items.map((item: Answer) => ({
      ...{ customer_name: '=Ada', customer_id: customer.id, customer_external_id: 'ada' },
      ...{ start_time: year.start, end_time: year.end, feature_name: 'Calls' },
      ...{ feature_id: item.feature_id, feature_group_name: 'Core', event_name: 'call' },
      ...{ event_count: item.event_count, aggregation_field: 'n', source: item.source },
      ...{ total_usage: item.total_usage, total_cost: item.total_cost, currency: 'usd' },
      customer_tier: 'gold, "old"',
    })),
  };
}

const year = { start: '2027-01-01T00:00:00.000Z', end: '2027-02-02T00:00:00.000Z' };

/** Columns that no answer has: the places of a row in its stream and in the log. */
const places = ['revision', 'position'];

test('each kind has the columns of the contract and the figures of the API, in every format', async () => {
  const { tenant, rowsOf } = await exporting('expkinds', year.start);
  const sale = await sold(tenant);
  await tenant.moveTo('2027-01-20T00:00:00.000Z');
  await record(tenant, [
    call('one', '2027-01-05T00:00:00Z', 10, 'web'),
    call('two', '2027-01-06T00:00:00Z', 2.5, 'app'),
    call('three', '2027-01-07T00:00:00Z', 4, 'web'),
  ]);
  await tenant.ok('POST', `/wallets/${sale.wallets[2].id}/top-up`, {
    ...{ credits_to_add: '3', transaction_reason: 'FREE_CREDIT_GRANT' },
  });
  await tenant.moveTo(year.end);
  const expected = await expectedRows(tenant, sale);
  const tier = (entity_type: string) => ({
    entity_type,
    field_key: 'tier',
    column_name: 'customer_tier',
  });
  const metadata: Readonly<Record<string, readonly object[]>> = {
    credit_usage: [tier('customer'), { entity_type: 'wallet', field_key: 'use' }],
    usage_analytics: [tier('customer')],
  };
  const wholeYear = { start: year.start, end: year.end };
  const compared = async (kind: keyof typeof expected, form: keyof typeof forms) => {
    const wanted = expected[kind];
    const fields = metadata[kind] ?? [];
    const found = await rowsOf(kind, wholeYear, { form, export_metadata_fields: fields });
    const { rows, manifest, file } = found;
    const columns: string[] = manifest.columns.map(({ name }: Answer) => name);
    const first = (contract as Row)[kind] as string | undefined;
    assert.ok(columns.join(' ').startsWith(first ?? 'id '), `${kind}: ${columns}`);
    assert.equal(Object.keys(rows[0] ?? {}).sort(), columns.toSorted(), `${kind} ${form}`);
    const shown = columns.filter((name) => !places.includes(name));
    const texts = (from: readonly Row[]) =>
      from.map((row) => shown.map((name) => `${name}: ${textOf(row[name])}`)).sort();
    assert.equal(texts(rows), texts(wanted), `${kind} as ${form}`);
    assert.is(manifest.rows, wanted.length);
    if (form === 'csv' && kind === 'credit_usage') assert.match(file.toString(), /^'=Ada,ada,/m);
  };
  const kinds = Object.keys(expected) as (keyof typeof expected)[];
  await Promise.all(
    kinds.flatMap((kind) => [
      compared(kind, 'csv'),
      compared(kind, 'ndjson'),
      compared(kind, 'parquet'),
    ]),
  );
  // The manifest adds up what the API shows.
  const { manifest } = await rowsOf('invoice', wholeYear);
  const total = expected.invoice.reduce((sum, each) => sum + +each.total, 0);
  assert.equal(manifest.sums.total, { usd: String(total) });
  assert.equal(
    expected.invoice
      .map((each) => [each.subtotal, each.total_discount, each.total_tax, each.total].join(' '))
      .sort(),
    // The base; then the base and 16.5 calls, of which credits pay what calls come to.
    ['100 10 9 99', '108.25 10.83 9.74 99.74'],
  );
  const { rows: events, manifest: ofEvents } = await rowsOf('events', wholeYear, { form: 'csv' });
  const columns = ofEvents.columns.map(({ name }: Answer) => name).join(' ');
  assert.ok(columns.startsWith(contract.events));
  assert.equal(
    events.map((row) => [row.id, row.qty_total, row.meter_id, row.feature_id, row.source]),
    [
      ['one', '10', sale.meter.id, sale.feature.id, 'web'],
      ['two', '2.5', sale.meter.id, sale.feature.id, 'app'],
      ['three', '4', sale.meter.id, sale.feature.id, 'web'],
    ],
  );
});

test('by effective time a window has what counts in it, whenever it was recorded or changed', async () => {
  const { tenant, rowsOf, schedule, manifestOf } = await exporting('expeffective', year.start);
  const { wallets } = await sold(tenant);
  const [opening] = await invoicesOf(tenant, 1);
  const [jan1, jan5, jan20] = ['01', '05', '20'].map((day) => ({
    start: `2027-01-${day}T00:00:00.000Z`,
    end: `2027-01-${String(Number(day) + 1).padStart(2, '0')}T00:00:00.000Z`,
  })) as [Span, Span, Span];
  await tenant.moveTo('2027-01-20T12:00:00.000Z');
  await record(tenant, [call('late', '2027-01-05T12:00:00Z', 1, 'web')]);
  await tenant.ok('POST', `/wallets/${wallets[0].id}/top-up`, {
    ...{ credits_to_add: '3', transaction_reason: 'FREE_CREDIT_GRANT' },
    effective_at: '2027-01-05T08:00:00Z',
  });
  await tenant.ok('PUT', `/invoices/${opening.id}`, { metadata: { po: '7' } });
  const daily = await schedule(
    { entity_type: 'events', interval: 'daily' },
    { window_by: 'effective', key_prefix: 'expeffective/daily', compression: 'none' },
  );
  await tenant.moveTo('2027-01-21T01:00:00.000Z');
  const counted = async (kind: string, window_by: string, counts: readonly number[]) => {
    const found = [jan1, jan5, jan20].map((span) => rowsOf(kind, span, { window_by }));
    const shown = (await Promise.all(found)).map(({ rows }) => rows.length);
    assert.equal(shown, counts, `${kind} by ${window_by}`);
  };
  await Promise.all([
    counted('events', 'effective', [0, 1, 0]),
    counted('events', 'recorded', [0, 0, 1]),
    counted('credit_topups', 'effective', [3, 1, 0]),
    counted('credit_topups', 'recorded', [3, 0, 1]),
    counted('invoice', 'effective', [1, 0, 0]),
    counted('invoice', 'recorded', [0, 0, 1]),
  ]);
  const { rows } = await rowsOf('invoice_lines', jan1, { window_by: 'effective' });
  assert.equal(
    rows.map(({ invoice_id, display_name }) => [invoice_id, display_name]),
    opening.line_items.map(({ display_name }: Answer) => [opening.id, display_name]),
  );
  // What comes after its window is counted in the next one's manifest, and a repetition has it.
  await record(tenant, [call('later', '2027-01-20T12:00:00Z', 1, 'web')]);
  await tenant.moveTo('2027-01-22T01:00:00.000Z');
  const manifestKey = (window: string) =>
    `expeffective/daily/events/events-${window}.csv.manifest.json`;
  const second = manifestKey('270121000000-270122000000');
  await eventually(
    () => storage.keys().includes(second),
    () => 'the second day was never exported',
  );
  const shown = await manifestOf(second);
  assert.equal([shown.rows, shown.late_rows], [0, 1]);
  const first = await manifestOf(manifestKey('270120000000-270121000000'));
  assert.equal([first.rows, first.generation], [0, 1]);
  const range = { start_time: jan20.start, end_time: jan20.end };
  const { task_id } = await tenant.ok('POST', `/tasks/scheduled/${daily.id}/run`, range);
  const again = await endedRun(tenant, task_id);
  assert.equal([again.total_records, again.metadata.generation], [1, '2']);
});

interface Span {
  readonly start: string;
  readonly end: string;
}

test.run();
