import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedStack } from '../stack.ts';
import { requestWith, routeKeys, send } from './examples.ts';
import { readOperations } from './operations.ts';
import { pointersIn } from './problem-answer.ts';
import { Records } from './records.ts';
import {
  assertAnswered,
  assertRefusedAt,
  describe,
  forAll,
  type Trials,
  trialOf,
} from './trial.ts';

const test = suite('values that no schema rules out, filters of searches');

let trials: Trials;

test.before(async () => {
  const stack = await sharedStack();
  const own = new Records(stack, await stack.tenant('values'), 'values');
  trials = { stack, own, operations: await readOperations(stack.baseUrl), unspent: new Map() };
});

const columns = [
  'id',
  'status',
  'created_at',
  'name',
  'email',
  'roles',
  'type',
  'currency',
  'credit_balance',
  'alert_enabled',
  'priority',
  'expiry_date',
  'credits_available',
];
const filterOperators = [
  'eq',
  'gt',
  'lt',
  'contains',
  'not_contains',
  'gte',
  'in',
  'not_in',
  'before',
  'after',
];
const filterValues = [
  { string: 'x' },
  { string: '' },
  { string: '%_\\' },
  { string: 'NaN' },
  { string: '1e999' },
  { string: '2026-02-30T00:00:00Z' },
  { string: '1' },
  { string: 'infinity' },
  { number: 0.1 },
  { number: 1e300 },
  { boolean: true },
  { date: '2026-01-01T00:00:00Z' },
  { array: [] },
  { array: ['x', 1] },
  { array: ['x'.repeat(1_024)] },
  {},
  { string: 'x', number: 1 },
];

const fewFilterValues = filterValues.slice(0, 3);

for (const key of routeKeys().filter((each) => each.endsWith('/search'))) {
  test(`${key} takes every filter and order, or says which one it cannot take`, async () => {
    const { operation, watched } = await trialOf(trials, key, 'filters');
    const ask = async (body: unknown) => {
      const answer = await send(watched, operation, { body });
      assertAnswered(answer, operation, { body });
      return answer;
    };
    assert.is((await ask({ sort: 'created_at', order: 'asc' })).status, 200);
    assert.equal(pointersIn(await ask({ sort: 'no_such_field' })), ['/sort']);
    const takes = async (field: string): Promise<boolean> => {
      const answer = await ask({ sort: [{ field, direction: 'desc' }] });
      if (answer.status === 200) return true;
      assert.equal(pointersIn(answer), ['/sort/0/field']);
      const filters = [{ field, operator: 'eq', value: { string: 'x' } }];
      assert.equal(pointersIn(await ask({ filters })), ['/filters/0/field']);
      return false;
    };
    assert.ok(await takes('id'));
    assert.not(await takes('resource'));
    assert.not(await takes('__proto__'));
    for (const field of columns) {
      if (!(await takes(field))) continue;
      const filters = filterOperators.flatMap((operator, index) =>
        // Every third operator meets all values; its neighbours differ from it in little.
        (index % 3 === 0 ? filterValues : fewFilterValues).map((value) => ({
          field,
          operator,
          value,
        })),
      );
      await forAll(filters, async (filter) => {
        const answer = await ask({ filters: [filter] });
        if (answer.status === 200) return;
        const isNamed = pointersIn(answer).every((pointer) => pointer.startsWith('/filters/0/'));
        assert.ok(isNamed, describe({ body: filter }, answer));
      });
    }
    assert.equal(await watched.storedThoughRefused(), []);
  });
}

const notAboveZero = ['0', '-0', '0.000', '-1', '-0.000000001', 0, -1, -0.5];
const past = '2020-01-01T00:00:00Z';

/** Values that are well formed and make no sense, by operation and place. */
const senseless: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  'POST /wallets': {
    conversion_rate: notAboveZero,
    topup_conversion_rate: notAboveZero,
    initial_credits_to_load: ['-1', -0.000000001],
    initial_credits_expiry_date_utc: [past],
    initial_credits_to_load_expiry_date: [
      20250231, 20991301, 20990001, 20990100, 0, -20990101, 2099, 209901011, 20200101,
    ],
    currency: ['', 'us', 'usdx', 'zzz', 'U$D'],
  },
  'POST /wallets/{id}/top-up': {
    credits_to_add: notAboveZero,
    amount: notAboveZero,
    bonus_credits_to_add: notAboveZero,
    expiry_date_utc: [past],
    transaction_reason: ['INVOICE_PAYMENT', 'WALLET_TERMINATION', 'CREDIT_EXPIRED'],
  },
  'POST /wallets/{id}/debit': { credits: notAboveZero },
  'POST /wallets/{id}/holds': { credits: notAboveZero, expires_at: [past] },
  'POST /secrets/api/keys': { expires_at: [past] },
  'POST /customers': {
    name: [' ', '\t\n'],
    external_id: [' '],
    address_country: ['XX', 'DEU', 'ß'],
  },
  'POST /meters': {
    name: [' '],
    aggregation: [
      { type: 'SUM' },
      { type: 'COUNT', field: 'x' },
      { type: 'SUM', expression: '1 + 1' },
      { type: 'SUM', expression: 'a % b' },
      { type: 'AVG', field: 'x', bucket_size: 'DAY' },
      { type: 'MAX', field: 'x', group_by: 'y' },
      { type: 'SUM_WITH_MULTIPLIER', field: 'x', multiplier: 0 },
    ],
  },
  'POST /prices/units': {
    code: [' ', 'a b', 'é'],
    conversion_rate: notAboveZero,
    base_currency: ['', 'us', 'zzz'],
  },
  'POST /features': {
    lookup_key: ['x'.repeat(256)],
    reporting_unit: [{ conversion_rate: 0, unit_singular: 'a', unit_plural: 'b' }],
    alert_settings: [
      { alert_enabled: true },
      { warning: { threshold: 1 } },
      { critical: { threshold: 5 }, warning: { threshold: 4 } },
    ],
  },
  'POST /coupons': {
    percentage_off: [...notAboveZero, '100.1', null],
    amount_off: [1],
    duration_in_periods: [1],
    max_redemptions: [0, 1_000_001],
  },
  'POST /taxes/rates': { percentage_value: ['-1', '100.1'], fixed_value: [1] },
  'POST /webhooks/endpoints': {
    url: ['ftp://example.com', 'example.com', 'https://', 'https://10.0.0.1/', 'https://u:p@a.com'],
    event_types: [[], ['invoice'], ['nothing.*'], ['*']],
  },
};

for (const [key, fields] of Object.entries(senseless)) {
  test(`${key} refuses what makes no sense, names the place and stores nothing`, async () => {
    const { base, watched, send: ask } = await trialOf(trials, key, 'senseless');
    for (const [name, values] of Object.entries(fields)) {
      for (const value of values) {
        const request = requestWith(base, `body.${name}`, value);
        assertRefusedAt(await ask(request), { part: 'body', path: [name] }, request);
      }
    }
    assert.equal(await watched.storedThoughRefused(), []);
  });
}

test('figures up to the documented size are kept to the last digit', async () => {
  const { tenant } = trials.own;
  const id = await trials.own.make('wallet');
  const huge = `${'9'.repeat(29)}.999999998`;
  const load = { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: huge };
  const loaded = await tenant.ok('POST', `/wallets/${id}/top-up`, load);
  assert.is(loaded.wallet_transaction.credit_amount, huge);
  assert.is(loaded.wallet.credit_balance, `1${'0'.repeat(28)}9.999999998`);
  const path = `/wallets/${id}/debit`;
  const debited = await tenant.ok('POST', path, '{"credits":0.000000001}');
  assert.is(debited.wallet.credit_balance, `1${'0'.repeat(28)}9.999999997`);
  const spelled = await tenant.ok('POST', path, { credits: '0010.500' });
  assert.is(spelled.wallet_transaction.credit_amount, '10.5');
});

test('texts may be as long as documented, counted as people count', async () => {
  const { tenant } = trials.own;
  for (const character of ['x', 'é', '😀']) {
    const external_id = trials.own.text('').padEnd(255, character === 'x' ? 'x' : 'y');
    const body = { external_id, name: character.repeat(255), address_city: character.repeat(100) };
    const made = await tenant.ok('POST', '/customers', body);
    const shown = await tenant.ok('GET', `/customers/${made.id}`);
    assert.equal([shown.name, shown.address_city], [body.name, body.address_city]);
    const tooLong = { ...body, external_id: trials.own.text('long'), name: character.repeat(256) };
    const refused = await tenant.call('POST', '/customers', tooLong);
    assertRefusedAt(refused, { part: 'body', path: ['name'] }, { body: tooLong });
  }
});

test.run();
