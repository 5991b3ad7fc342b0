import type { Instant } from '@counterfoil/kernel';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keptEntries } from './kept-entries.ts';

const test = suite('entries as the log keeps them');

const at = '2026-01-01T00:00:00.000Z' as Instant;
const text = fc.option(fc.constantFrom('a', 'b'));
const rate = fc.constantFrom('1', '0.5');
const figure = fc.constantFrom('0', '1', '99.5', '-3', '0.000000001', '100000000000000000000');

const order = {
  transaction_id: fc.constant('wtxn_1'),
  customer_id: fc.constant('cust_1'),
  conversion_rate: rate,
  topup_conversion_rate: rate,
  credits: fc.constantFrom('1', '0.5', '12.25'),
  reference_type: fc.option(fc.constantFrom('REQUEST', 'EXTERNAL')),
  reference_id: text,
  description: text,
  idempotency_key: text,
  metadata: fc.dictionary(fc.constantFrom('k', 'l'), fc.constant('v'), { noNullPrototype: true }),
};
const entry = {
  ...order,
  effective_at: fc.constantFrom(at, '2025-12-31T00:00:00.000Z'),
  credit_balance_before: figure,
  credit_balance_after: figure,
};
const lot = { priority: fc.option(fc.integer()), expires_at: fc.option(fc.constant(at)) };

const shapes: Readonly<Record<string, Record<string, fc.Arbitrary<unknown>>>> = {
  CreditsLoaded: { ...entry, ...lot },
  CreditsDebited: entry,
  CreditsExpired: entry,
  HoldCaptured: entry,
  DebitReversed: entry,
  TopUpRequested: { ...order, ...lot },
  TopUpFailed: { ...order, ...lot },
};

for (const [type, form] of Object.entries(keptEntries)) {
  test(`${type}: whatever is left out is found again`, () => {
    void fc.assert(
      fc.property(fc.record(shapes[type] ?? {}, { noNullPrototype: true }), (data) => {
        const kept = JSON.parse(JSON.stringify(form.shorten(data, at)));
        assert.equal(form.complete(kept, at), data);
      }),
    );
  });
}

test('an entry that says nothing special is short', () => {
  const data = {
    transaction_id: 'wtxn_1',
    conversion_rate: '1',
    topup_conversion_rate: '1',
    credits: '1',
    reference_type: 'REQUEST',
    reference_id: 'key',
    description: null,
    idempotency_key: 'key',
    metadata: {},
    effective_at: at,
    credit_balance_before: '10',
    credit_balance_after: '9',
  };
  const kept = keptEntries.CreditsDebited.shorten(data, at);
  assert.equal(kept, {
    transaction_id: 'wtxn_1',
    conversion_rate: '1',
    credits: '1',
    reference_type: 'REQUEST',
    idempotency_key: 'key',
    credit_balance_after: '9',
  });
});

test.run();
