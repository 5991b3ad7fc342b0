import { unused } from '@counterfoil/engine/define';
import { wallets } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LedgerAnswer } from './exchange.ts';
import type { Data } from './history.ts';
import { type MemoryClient, memoryClient } from './memory-client.ts';

const test = suite('every field of a body under one idempotency key');

/** The instant at which the service in memory begins, and one before it. */
const begin = '2026-01-01T00:00:00.000Z';
const earlier = '2025-12-31T00:00:00.000Z';
const later = '2030-01-01T00:00:00.000Z';
const muchLater = '2031-01-01T00:00:00.000Z';

/** A request with every field that its body can have, and another value for each of them. */
interface Case {
  readonly route: string;
  readonly path: (ids: Ids) => string;
  readonly body: (ids: Ids) => Data;
  readonly others: Data;
  /** Fields that cannot be there together with the others, or only in one way. */
  readonly leftOut?: readonly string[];
  /** The same body, written differently. */
  readonly same?: (body: Data) => readonly Data[];
}

interface Ids {
  readonly customer: string;
  readonly wallet: string;
  readonly hold: string;
}

const common = { description: 'one', metadata: { a: '1' } };
const commonOthers = { description: 'two', metadata: { a: '2' } };
const creditsWritten = (body: Data): readonly Data[] => [
  { ...body, credits: '5.0' },
  { ...body, credits: 5 },
  { ...body, credits: '5.000000000' },
  Object.fromEntries(Object.entries(body).reverse()),
  { ...body, nobody_knows: 'this field' },
];

const cases: readonly Case[] = [
  {
    route: 'POST /wallets/{id}/debit',
    path: ({ wallet }) => `/wallets/${wallet}/debit`,
    body: () => ({
      ...common,
      credits: '5',
      transaction_reason: 'CREDIT_ADJUSTMENT',
      allow_partial: true,
      effective_at: begin,
    }),
    others: {
      ...commonOthers,
      credits: '6',
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      allow_partial: false,
      effective_at: earlier,
    },
    same: creditsWritten,
  },
  {
    route: 'POST /wallets/{id}/top-up',
    path: ({ wallet }) => `/wallets/${wallet}/top-up`,
    body: () => ({
      ...common,
      transaction_reason: 'PURCHASED_CREDIT_DIRECT',
      credits_to_add: '5',
      amount: '5',
      expiry_date_utc: later,
      bonus_credits_to_add: '2',
      bonus_credits_expiry_date_utc: later,
      priority: 1,
      effective_at: begin,
    }),
    others: {
      ...commonOthers,
      transaction_reason: 'FREE_CREDIT_GRANT',
      credits_to_add: '6',
      amount: '8',
      expiry_date_utc: muchLater,
      bonus_credits_to_add: '3',
      bonus_credits_expiry_date_utc: muchLater,
      priority: 2,
      effective_at: earlier,
    },
    same: (body) => [
      { ...body, credits_to_add: '5.0' },
      { ...body, expiry_date_utc: '2030-01-01T01:00:00+01:00' },
    ],
  },
  {
    route: 'POST /wallets/{id}/holds',
    path: ({ wallet }) => `/wallets/${wallet}/holds`,
    body: () => ({ ...common, credits: '5', expires_at: later }),
    others: { ...commonOthers, credits: '6', expires_at: muchLater },
    same: creditsWritten,
  },
  {
    route: 'POST /wallets/{id}/holds/{hold_id}/capture',
    path: ({ wallet, hold }) => `/wallets/${wallet}/holds/${hold}/capture`,
    body: () => ({ ...common, credits: '5', final: false }),
    others: { ...commonOthers, credits: '6', final: true },
    same: creditsWritten,
  },
  {
    route: 'POST /wallets/{id}/transactions/bulk',
    path: ({ wallet }) => `/wallets/${wallet}/transactions/bulk`,
    body: () => ({ atomic: false, entries: [{ type: 'debit', credits: '5' }] }),
    others: { atomic: true, entries: [{ type: 'debit', credits: '6' }] },
    same: (body) => [
      { ...body, entries: [{ type: 'debit', credits: '5.0' }] },
      { ...body, entries: [{ type: 'debit', credits: '5', metadata: {} }] },
      {
        ...body,
        entries: [{ type: 'debit', credits: '5', transaction_reason: 'MANUAL_BALANCE_DEBIT' }],
      },
    ],
  },
  {
    route: 'POST /wallets',
    path: () => '/wallets',
    body: ({ customer }) => ({
      ...common,
      customer_id: customer,
      currency: 'eur',
      conversion_rate: '2',
      topup_conversion_rate: '3',
      wallet_type: 'POST_PAID',
      initial_credits_to_load: '5',
      initial_credits_expiry_date_utc: later,
      initial_credits_to_load_expiry_date: 20_300_101,
      alert_settings: { critical: { threshold: 5 } },
      auto_topup: { amount: '5', threshold: '1' },
      allow_multiple: true,
      priority: 1,
      config: { allowed_price_types: ['USAGE'] },
    }),
    others: {
      ...commonOthers,
      currency: 'usd',
      conversion_rate: '2.5',
      topup_conversion_rate: '3.5',
      wallet_type: 'PRE_PAID',
      initial_credits_to_load: '6',
      initial_credits_expiry_date_utc: muchLater,
      initial_credits_to_load_expiry_date: 20_310_101,
      alert_settings: { critical: { threshold: 6 } },
      auto_topup: { amount: '6', threshold: '1' },
      allow_multiple: false,
      priority: 2,
      config: { allowed_price_types: ['FIXED'] },
      external_customer_id: 'fields',
      customer_id: 'cust_00000000000000000000000000',
    },
    leftOut: ['price_unit'],
    same: (body) => [
      { ...body, currency: 'EUR' },
      { ...body, conversion_rate: 2 },
      { ...body, alert_settings: { alert_enabled: true, critical: { threshold: '5.0' } } },
    ],
  },
];

const key = 'one key';

/** A service with a customer, a wallet of 100 credits and a hold of 10 of them. */
async function prepared(): Promise<{ readonly client: MemoryClient; readonly ids: Ids }> {
  const client = memoryClient();
  const make = async (route: string, path: string, body: object, id = '') =>
    (await client.send({ route, path, params: { id }, body, requestId: 'make', key: null })).body
      .id;
  const customer = await make('POST /customers', '/customers', {
    external_id: 'fields',
    name: 'Fields',
  });
  const first = { customer_id: customer, currency: 'usd', initial_credits_to_load: '100' };
  const wallet = await make('POST /wallets', '/wallets', first);
  const path = `/wallets/${wallet}/holds`;
  const hold = await make('POST /wallets/{id}/holds', path, { credits: '10' }, wallet);
  return { client, ids: { customer, wallet, hold } };
}

const fieldsOf = (route: string): readonly string[] => {
  const body = (wallets.routes as Readonly<Record<string, { body?: { shape?: object } }>>)[route]
    ?.body;
  return Object.entries(body?.shape ?? {}).flatMap(([name, schema]) =>
    name === 'idempotency_key' || schema === unused ? [] : [name],
  );
};

for (const { route, path, body, others, leftOut = [], same = () => [] } of cases) {
  const ask = (client: MemoryClient, ids: Ids, given: Data): Promise<LedgerAnswer> =>
    client.send({
      route,
      path: path(ids),
      params: { id: ids.wallet, hold_id: ids.hold },
      body: given,
      requestId: 'asked',
      key,
    });

  test(`${route}: no field of the body is forgotten here`, async () => {
    const { ids } = await prepared();
    const known = new Set([...Object.keys(body(ids)), ...Object.keys(others), ...leftOut]);
    assert.equal(
      fieldsOf(route).filter((name) => !known.has(name)),
      [],
    );
    assert.ok(fieldsOf(route).length > 0);
  });

  test(`${route}: another value of any field is refused by its name`, async () => {
    const { client, ids } = await prepared();
    const right = body(ids);
    const first = await ask(client, ids, right);
    assert.ok(first.status < 300, JSON.stringify(first.body));
    const length = client.store.log.length;
    for (const [name, other] of Object.entries(others)) {
      const { status, body: answer } = await ask(client, ids, { ...right, [name]: other });
      assert.is(status, 409, `${name}: ${JSON.stringify(answer)}`);
      assert.is(answer.code, 'idempotency_conflict');
      assert.equal(answer.details.fields, [name]);
      assert.match(answer.message, name);
    }
    const again = await ask(client, ids, right);
    assert.equal(again.body, first.body);
    assert.ok(again.isReplay);
    assert.is(client.store.log.length, length, 'nothing is stored');
  });

  test(`${route}: a field that is left out, or there for the first time, is another body`, async () => {
    const { client, ids } = await prepared();
    const right = body(ids);
    await ask(client, ids, right);
    for (const name of Object.keys(right)) {
      const { [name]: _left, ...less } = right;
      const { status, body: answer } = await ask(client, ids, less);
      // What cannot do without a field is refused for that; everything else for the key.
      if (answer.code === 'validation_error') continue;
      assert.is(status, 409, `${name}: ${JSON.stringify(answer)}`);
      assert.equal(answer.details.fields, [name]);
    }
  });

  test(`${route}: the same body written differently gets the first answer again`, async () => {
    const { client, ids } = await prepared();
    const first = await ask(client, ids, body(ids));
    for (const written of same(body(ids))) {
      const again = await ask(client, ids, written);
      assert.equal(again.body, first.body, JSON.stringify(written));
      assert.ok(again.isReplay);
    }
  });
}

test('a key belongs to its operation: elsewhere it is a new one', async () => {
  const { client, ids } = await prepared();
  const send = (route: string, path: string, given: Data) =>
    client.send({ route, path, params: { id: ids.wallet }, body: given, requestId: 'r', key });
  const [debit, hold] = [`/wallets/${ids.wallet}/debit`, `/wallets/${ids.wallet}/holds`];
  const answers = [
    await send('POST /wallets/{id}/debit', debit, { credits: '1' }),
    await send('POST /wallets/{id}/holds', hold, { credits: '2' }),
  ];
  assert.equal(
    answers.map(({ status, isReplay }) => [status, isReplay]),
    [
      [200, false],
      [201, false],
    ],
  );
});

test.run();
