import type { DecimalText, Instant } from '@counterfoil/kernel';
import { folded, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createWallet,
  debitCredits,
  loadCredits,
  settleDue,
  type WalletDecision,
} from './decisions.ts';
import type { EntryDetails, Load } from './entries.ts';
import type { CreatedData, WalletEvent } from './events.ts';
import { captureHold, holdCredits } from './hold-decisions.ts';
import { balanceAdder } from './time-travel.ts';
import { wallet } from './wallet.ts';

const test = suite('time travel');

const id = 'wallet_01';
const text = (value: string) => value as DecimalText;
const details = {
  reason: 'FREE_CREDIT_GRANT',
  referenceType: null,
  referenceId: null,
  description: null,
  idempotencyKey: null,
  metadata: {},
} as const satisfies EntryDetails;
const load = (credits: string, expiresAt: Instant | null = null): Load => ({
  ...details,
  quantity: { credits: text(credits) },
  priority: null,
  expiresAt,
});
const create = createWallet(
  {
    id,
    customer_id: 'cust_01',
    currency: 'usd',
    conversion_rate: '1',
    topup_conversion_rate: '1',
    wallet_type: 'PRE_PAID',
    name: 'W',
    description: null,
    metadata: {},
    config: { allowed_price_types: ['USAGE'] },
    alert_settings: null,
    auto_topup: null,
  } as unknown as CreatedData,
  null,
);

/** Runs each decision at the second it names. */
function history(...steps: readonly (readonly [second: number, decide: WalletDecision])[]) {
  const events: WalletEvent[] = [];
  const stamped: Parameters<ReturnType<typeof balanceAdder>['take']>[0][] = [];
  for (const [second, decide] of steps) {
    const stamp = stampAt(second);
    for (const event of decide(folded(wallet, events), stamp.occurred_at)) {
      events.push(event);
      stamped.push({ ...event, stamp });
    }
  }
  return stamped;
}

const at = (second: number) => stampAt(second).occurred_at;

const balance = (events: ReturnType<typeof history>, asOf: number, knownAt: number) => {
  const adder = balanceAdder(at(asOf), at(knownAt));
  for (const event of events) adder.take(event);
  return adder.result();
};

test('credits that expired are gone from their instant on, once the log knows it', () => {
  const events = history(
    [0, create],
    [1, loadCredits(id, [load('10', at(5)), load('7')])],
    [20, settleDue(id)],
  );
  assert.is(balance(events, 6, 6).credit_balance, '17', 'as it was known then');
  assert.is(balance(events, 6, 20).credit_balance, '7', 'as it is known since the booking');
  assert.is(balance(events, 4, 20).credit_balance, '17', 'before the instant it was there');
});

test('at every moment it equals the balance that the wallet had', () => {
  const debit = (credits: string) => debitCredits(id, { ...details, credits: text(credits) });
  const newHold = {
    holdId: 'hold_a' as never,
    credits: text('5'),
    expiresAt: null,
    description: null,
    metadata: {},
  };
  const steps = [
    [0, create],
    [1, loadCredits(id, [load('10')])],
    [2, debit('3')],
    [3, holdCredits(id, newHold)],
    [4, loadCredits(id, [load('1')])],
    [5, captureHold(id, 'hold_a', text('2'), details)],
  ] as const;
  const events = history(...steps);
  const balances = ['0', '10', '7', '7', '8', '6'];
  for (const [second, expected] of balances.entries()) {
    const { credit_balance, credits_held } = balance(events, second, second);
    assert.is(credit_balance, expected);
    assert.is(credits_held, second === 3 || second === 4 ? '5' : '0');
  }
  assert.equal(
    balance(events, 5, 5).lots.map(({ remaining }) => remaining),
    ['5', '1'],
  );
});

test.run();
