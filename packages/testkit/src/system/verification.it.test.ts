import { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { rebuild, verify } from '@counterfoil/cli/verify';
import { verifyInvoices } from '@counterfoil/cli/verify-invoices';
import pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { apiBeside } from './api-beside.ts';
import { runProgram } from './run-program.ts';

const test = suite('verification');

let stack: Stack;
let tenant: TestTenant;
let walletId: string;
let invoiceId: string;
test.before(async () => {
  stack = await startStack({ verificationIntervalSeconds: 1 });
  tenant = await stack.tenant('verification');
  const customer = await tenant.ok('POST', '/customers', { external_id: 'v', name: 'V' });
  const body = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '100' };
  walletId = (await tenant.ok('POST', '/wallets', body)).id;
  await tenant.ok('POST', `/wallets/${walletId}/debit`, { credits: '30', description: 'marker' });
  await tenant.ok('GET', `/wallets/${walletId}`);
  invoiceId = await billedUsage();
});
test.after(() => stack.stop());

/** A final invoice for 43 seats, in two usage events, at a cent each. */
async function billedUsage(): Promise<string> {
  const post = (path: string, body: object) => tenant.ok('POST', path, body);
  const { id: customer_id } = await post('/customers', { external_id: 's', name: 'S' });
  const { id: meter_id } = await post('/meters', {
    ...{ name: 'Seats', event_name: 'seats', aggregation: { type: 'SUM', field: 'seats' } },
  });
  const { id: plan_id } = await post('/plans', { name: 'Pro' });
  await post('/prices', {
    ...{ entity_type: 'PLAN', entity_id: plan_id, currency: 'usd', billing_period: 'MONTHLY' },
    ...{ type: 'USAGE', billing_model: 'FLAT_FEE', invoice_cadence: 'ARREAR' },
    ...{ display_name: 'Seats', meter_id, amount: '0.01', start_date: '2020-01-01T00:00:00Z' },
  });
  const { id } = await post('/subscriptions', {
    ...{ customer_id, plan_id, currency: 'usd', billing_period: 'MONTHLY' },
  });
  for (const seats of [2, 41]) {
    await post('/events', {
      ...{ event_name: 'seats', external_customer_id: 's', properties: { seats } },
    });
  }
  await post(`/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
  return eventually(async () => {
    const { items } = await post('/invoices/search', { subscription_id: id });
    const final = items.find(({ subtotal }: { subtotal: string }) => subtotal === '0.43');
    return final?.invoice_status === 'FINALIZED' && final.id;
  });
}

async function verifiedInvoices(): Promise<{ isClean: boolean; lines: string[] }> {
  const lines: string[] = [];
  const isClean = await verifyInvoices(urls(), (line) => lines.push(line));
  return { isClean, lines };
}

const urls = () => ({
  eventStoreUrl: stack.eventStoreUrl,
  databaseUrl: stack.databaseUrl,
  natsUrl: stack.natsUrl,
});

async function verified(): Promise<{ isClean: boolean; lines: string[] }> {
  const lines: string[] = [];
  const isClean = await verify(urls(), (line) => lines.push(line));
  return { isClean, lines };
}

async function inDatabase(statement: string, values: readonly unknown[]): Promise<void> {
  const client = new pg.Client(stack.databaseUrl);
  await client.connect();
  try {
    await client.query(statement, [...values]);
  } finally {
    await client.end();
  }
}

test('a service that nobody has touched verifies clean and says what was checked', async () => {
  const { isClean, lines } = await verified();
  assert.ok(isClean, lines.join('\n'));
  assert.match(lines.join('\n'), /log: \d+ streams, \d+ events, 0 broken chains/);
  assert.match(lines.join('\n'), /read models: \d+ rows, 0 differences/);
});

test('an invoice that nobody has touched is computed again, and told', async () => {
  const { isClean, lines } = await verifiedInvoices();
  assert.ok(isClean, lines.join('\n'));
  assert.match(lines.at(-1) ?? '', /^invoices: 1 computed again, 0 differ/);
  const explain = async (query = '') =>
    (await tenant.call('GET', `/invoices/${invoiceId}/explain${query}`)).body;
  const shown = await explain();
  assert.equal([shown.differences, shown.lines[0].usage.billable], [[], '43']);
  const { events } = await explain(`?line_item_id=${shown.lines[0].line_item_id}`);
  assert.equal(events.events.map(({ value }: { value: string }) => value).sort(), ['2', '41']);
});

test('a balance changed in Postgres is named by row and field, and a rebuild mends it', async () => {
  const changed = 'update counterfoil.wallets set credit_balance = 7000 where id = $1';
  await inDatabase(changed, [walletId]);
  assert.is((await tenant.ok('GET', `/wallets/${walletId}`)).credit_balance, '7000');
  const { isClean, lines } = await verified();
  assert.not(isClean);
  const named = lines.find((line) => line.includes(walletId)) ?? '';
  assert.match(named, /wallets .*credit_balance/);
  assert.match(named, /"70".*"7000"/);

  await rebuild(urls(), []);
  const after = await verified();
  assert.ok(after.isClean, after.lines.join('\n'));
  assert.is((await tenant.ok('GET', `/wallets/${walletId}`)).credit_balance, '70');
});

const dataFolder = (): string => join(stack.directory, 'eventstore', 'data');

/**
 * Changes one byte of a text inside the files of the event store, in every copy of it, while the store is
 * stopped: it keeps the newest events in memory.
 */
async function tamper(
  directory: string,
  changes: Readonly<Record<string, string>>,
): Promise<number> {
  await stack.parts.eventStore.stop();
  let places = 0;
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (!statSync(file).isFile()) continue;
    const content = readFileSync(file);
    const handle = openSync(file, 'r+');
    for (const [text, replacement] of Object.entries(changes)) {
      for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1)) {
        writeSync(handle, replacement, at);
        places += 1;
      }
    }
    closeSync(handle);
  }
  await stack.parts.eventStore.start();
  // A client that comes at once would share the connection that the others have just seen refused.
  await eventually(() =>
    stack.store.ping().then(
      () => true,
      () => false,
    ),
  );
  return places;
}

test('one byte changed in an event is found, with stream and revision', async () => {
  const places = await tamper(dataFolder(), {
    '"description":"marker"': '"description":"markes"',
    '"seats":41': '"seats":42',
  });
  assert.ok(places > 1, 'the events were found on disk');
  const { isClean, lines } = await verified();
  assert.not(isClean);
  assert.match(lines[0] ?? '', new RegExp(`wallet-.*${walletId}@2`));
});

test('a changed usage event is found by the invoice that bills it', async () => {
  const { isClean, lines } = await verifiedInvoices();
  assert.not(isClean);
  const named = lines.filter((line) => line.startsWith('invoice '));
  assert.ok(named.every((line) => line.includes(invoiceId)));
  assert.match(
    named.join('\n'),
    /\(Seats\) quantity: the log says 44, the invoice 43/,
    lines.join('\n'),
  );
  assert.match(named.join('\n'), /\(Seats\) amount: the log says 0\.44, the invoice 0\.43/);
  assert.match(lines.at(-1) ?? '', /^invoices: 1 computed again, 1 differ/);
});

test('the projector finds it too, by itself, and tells the tenant whose it is', async () => {
  const found = await eventually(async () => {
    const { findings } = await tenant.ok('GET', '/ledger/verification');
    return findings.some(({ kind }: { kind: string }) => kind === 'event') && findings;
  });
  const event = found.find(({ kind }: { kind: string }) => kind === 'event');
  assert.match(event.place, new RegExp(`^wallet-.*${walletId}@2$`));
  assert.match(event.problem, /its content does not match its hash/);
  const other = await stack.tenant('verification of another');
  const seen = await other.ok('GET', '/ledger/verification');
  assert.equal([seen.findings, seen.findings_total], [[], 0]);
  assert.ok(BigInt(seen.completed_position) > 0n);
});

/** Runs a command of the command line on the stack, and gives its exit code with all that it says. */
function counterfoil(...words: string[]) {
  const { eventStoreUrl, databaseUrl, natsUrl } = stack;
  return runProgram('@counterfoil/cli', words, {
    EVENTSTORE_URL: eventStoreUrl,
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    COUNTERFOIL_SECRET_KEY: stack.secretKey,
  });
}

/** Debits the wallet by a process that has not folded it yet. */
async function debitAfresh() {
  const api = await apiBeside(stack, {});
  try {
    const fresh = caller(api.baseUrl, tenant.apiKey);
    return await fresh.call('POST', `/wallets/${walletId}/debit`, { credits: '1' });
  } finally {
    await api.stop();
  }
}

/** One bit of it makes an event unreadable: `:` becomes `;`. */
const faults = [
  ['changed', async () => 1, /its content does not match its hash/],
  [
    'unreadable',
    () => tamper(dataFolder(), { '"description":"markes"': '"description";"markes"' }),
    /cannot be read/,
  ],
] as const;

for (const [name, prepare, told] of faults) {
  test(`an event that is ${name} is not decided on, and the command line names it`, async () => {
    assert.ok((await prepare()) > 0);
    const head = await stack.store.head();
    const answer = await debitAfresh();
    assert.is(answer.status, 500);
    assert.not.match(JSON.stringify(answer.body), /wallet-/, 'nothing of the inside is told');
    assert.is(await stack.store.head(), head, 'nothing is appended');
    const { status, stdout, stderr } = await counterfoil('verify');
    assert.is(status, 1, stderr);
    assert.match(stdout, new RegExp(`wallet-.*${walletId}@2`), stdout + stderr);
    assert.match(stdout, told);
    assert.not.match(stdout + stderr, /\n\s+at /);
  });
}

test('a rebuild of a log that holds an unreadable event ends with the name of the event', async () => {
  const { status, stderr } = await counterfoil('rebuild', 'wallets');
  assert.is(status, 1, stderr);
  assert.match(
    stderr,
    new RegExp(`^wallets stopped at event wallet-.*${walletId}@2: it cannot be read.*\n$`),
  );
  const customer = await tenant.ok('POST', '/customers', { external_id: 'w', name: 'W' });
  const { id } = await tenant.ok('POST', '/wallets', { customer_id: customer.id, currency: 'usd' });
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).id, id, 'everything else goes on');
});

test.run();
