import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { verify } from '@counterfoil/cli/verify';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, type Caller, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { nodeOptions } from '../node-options.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { apiBeside } from './api-beside.ts';
import type { DebitToHalt } from './test-debit-process.ts';

const test = suite('debits over several wallets of a customer');

let stack: SharedStack;
let tenant: TestTenant;
const children = new Set<ChildProcess>();

test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('customer-debits');
});
test.after(async () => {
  for (const child of children) child.kill('SIGKILL');
});

interface Customer {
  readonly id: string;
  readonly walletIds: readonly string[];
}

/** A customer with wallets, the first of which is drawn first. */
async function customerWith(name: string, ...credits: readonly number[]): Promise<Customer> {
  const { id } = await tenant.ok('POST', '/customers', { external_id: name, name });
  const walletIds: string[] = [];
  for (const [priority, initial_credits_to_load] of credits.entries()) {
    const body = { customer_id: id, currency: 'usd', allow_multiple: true, priority };
    const wallet = await tenant.ok('POST', '/wallets', { ...body, initial_credits_to_load });
    walletIds.push(wallet.id);
  }
  return { id, walletIds };
}

/** The balance of each wallet by the log, and the credits that are held of it. */
const balancesOf = ({ walletIds }: Customer): Promise<readonly string[][]> =>
  Promise.all(
    walletIds.map(async (id) => {
      const shown = await tenant.ok('GET', `/wallets/${id}/balance/real-time`);
      return [shown.credit_balance, shown.credits_held];
    }),
  );

const free = (...credits: readonly number[]) => credits.map((each) => [String(each), '0']);

/** The types of the events in the stream of a customer's debits. */
async function debitsOf({ id }: Customer): Promise<readonly string[]> {
  const types: string[] = [];
  const name = `customer_debits-${tenant.environmentId}.${id}_usd`;
  for await (const { type } of stack.store.readStream(name)) types.push(type);
  return types;
}

const program = fileURLToPath(new URL('./test-debit-process.ts', import.meta.url));

interface Halted {
  readonly haltAt: number;
  readonly customer: Customer;
  readonly body: object;
}

/** Asks for debits in a process in which each stands still before an append, and kills it when all do. */
async function killedBefore(debits: readonly Halted[]): Promise<void> {
  const { tenantId, environmentId } = tenant;
  const given = debits.map(({ haltAt, customer, body }): DebitToHalt => {
    const { id: customerId, walletIds } = customer;
    const asked = { customerId, walletIds, body: { ...body }, key: 'once', haltAt };
    return { eventStoreUrl: stack.eventStoreUrl, tenantId, environmentId, ...asked };
  });
  const child = fork(program, [JSON.stringify(given)], { execArgv: [...nodeOptions] });
  children.add(child);
  let halted = 0;
  for await (const [message] of on(child, 'message', { close: ['exit'] })) {
    assert.is(message, 'halted');
    halted += 1;
    if (halted === debits.length) break;
  }
  assert.is(halted, debits.length, 'the process has ended by itself');
  child.kill('SIGKILL');
  await once(child, 'exit');
  children.delete(child);
}

test('a debit whose process is killed before any of its appends is ended by the projector, whole or not at all', async () => {
  // Ten, twenty and thirty credits: 45 are held, held and paid; 61 are held three times and given back.
  const taken = { body: { currency: 'usd', amount: '45' }, left: free(0, 0, 15) };
  const refused = { body: { currency: 'usd', amount: '61' }, left: free(10, 20, 30) };
  const cases = [2, 4, 7].map((haltAt) => ({ haltAt, ...taken }));
  const all = [...cases, ...[5, 8].map((haltAt) => ({ haltAt, ...refused }))];
  const debits = [];
  for (const [index, each] of all.entries()) {
    debits.push({ ...each, customer: await customerWith(`killed-${index}`, 10, 20, 30) });
  }
  await stack.parts.projector.stop();
  await killedBefore(debits);
  for (const { customer, haltAt } of debits) {
    assert.equal(await debitsOf(customer), ['DebitRequested'], `halted before ${haltAt}`);
  }
  await stack.parts.projector.start();
  for (const { customer, body, left, haltAt } of debits) {
    const name = `${JSON.stringify(body)} halted before ${haltAt}`;
    await eventually(
      async () => (await debitsOf(customer)).length === 2,
      () => `${name} has no end`,
    );
    assert.equal(await balancesOf(customer), left, name);
    const headers = { 'idempotency-key': 'once' };
    const path = `/customers/${customer.id}/debit`;
    const [first, again] = [
      await tenant.call('POST', path, body, headers),
      await tenant.call('POST', path, body, headers),
    ];
    assert.is(first.status, body === taken.body ? 200 : 400, first.text);
    assert.equal({ ...again.body, instance: '' }, { ...first.body, instance: '' });
    assert.equal(await balancesOf(customer), left, name);
  }
});

/** The final answer to a request with a key: on a busy machine the service may have to say that it comes later. */
const insist = (by: Caller, path: string, body: object, key: Record<string, string>) =>
  eventually(async () => {
    const answer = await by.call('POST', path, body, key);
    return answer.status !== 503 && answer;
  });

const sum = (figures: readonly string[]): number =>
  figures.reduce((total, figure) => total + Number(figure), 0);

test('sixteen debits of all wallets beside debits of single ones, by two processes, take what they say and no more', async () => {
  const customer = await customerWith('many', 20, 30, 50);
  const beside = await apiBeside(stack, {});
  const other = caller(beside.baseUrl, tenant.apiKey);
  try {
    await other.untilKnown();
    const ask = (index: number): Promise<Answer> => {
      const by = index % 2 === 0 ? tenant : other;
      const headers = { 'idempotency-key': `many-${index}` };
      const path = `/customers/${customer.id}/debit`;
      return insist(by, path, { currency: 'usd', amount: String(5 + index) }, headers);
    };
    const askOne = (index: number): Promise<Answer> => {
      const by = index % 2 === 0 ? other : tenant;
      const path = `/wallets/${customer.walletIds[index % 3]}/debit`;
      return insist(by, path, { credits: '2' }, { 'idempotency-key': `single-${index}` });
    };
    const numbers = Array.from({ length: 16 }, (_, index) => index);
    const [all, single] = await Promise.all([
      Promise.all(numbers.map(ask)),
      Promise.all(numbers.map(askOne)),
    ]);
    const done = all.filter(({ status }) => status === 200);
    for (const { body } of done) {
      const amounts = body.transactions.map((row: { amount: string }) => row.amount);
      assert.is(sum(amounts), Number(body.amount));
    }
    for (const { status, body } of all) {
      assert.ok(status === 200 || body.details?.reason === 'insufficient_credits', body.message);
    }
    const credits = done.map(({ body }) => body.credits as string);
    const lost = sum(credits) + 2 * single.filter(({ status }) => status === 200).length;
    const balances = await balancesOf(customer);
    assert.is(sum(balances.map(([left]) => left ?? '')), 100 - lost);
    assert.equal(new Set(balances.map(([, held]) => held)), new Set(['0']));
    const types = await debitsOf(customer);
    assert.is(types.filter((type) => type === 'DebitCompleted').length, done.length);
    assert.is(types.length, 32);
    const last = [...all, ...single]
      .map(({ headers }) => BigInt(headers.get('counterfoil-position') ?? '0'))
      .reduce((a, b) => (a > b ? a : b));
    const seen = { 'counterfoil-min-position': `${last}` };
    const rows = await Promise.all(
      customer.walletIds.map((id) =>
        tenant.ok('GET', `/wallets/${id}/transactions?type=debit`, undefined, seen),
      ),
    );
    const told = new Set(rows.flatMap(({ items }) => items).map((row) => row.reference_id));
    const answered = done.map(({ body }) => body.id as string);
    const debits = [...told].filter((id) => `${id}`.startsWith('debit_'));
    assert.equal(debits.sort(), answered.sort(), 'refused debits have no entries');
    const again = await Promise.all(numbers.map(ask));
    assert.equal(
      again.map(({ status, body }) => [status, body.id]),
      all.map(({ status, body }) => [status, body.id]),
    );
  } finally {
    await beside.stop();
  }
});

test('log and read models verify', async () => {
  const lines: string[] = [];
  const isClean = await verify(stack, (line) => lines.push(line));
  assert.ok(isClean, lines.join('\n'));
});

test.run();
