import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LedgerCheck, type WalletEvent } from './ledger-check.ts';
import { outcomes } from './load/plan.ts';

const test = suite('verdict of the benchmark');

const { acknowledged, refused, unknown } = outcomes;

interface Moved {
  readonly credits?: string;
  readonly after?: string;
  readonly type?: string;
  readonly stream?: string;
}

const entry = (key: string | null, moved: Moved = {}): WalletEvent => ({
  stream: moved.stream ?? 'wallet-a.w',
  type: moved.type ?? 'CreditsDebited',
  data: {
    credits: moved.credits ?? '1',
    credit_balance_after: moved.after ?? '9',
    idempotency_key: key,
  },
});

function faultsOf(
  told: readonly number[],
  events: readonly WalletEvent[],
  entriesPerKey = 1,
): readonly string[] {
  const check = new LedgerCheck({ keys: 'k', outcomes: Uint8Array.from(told), entriesPerKey });
  for (const event of events) check.take(event);
  return check.faults();
}

test('what was acknowledged and is there once is right', () => {
  assert.equal(faultsOf([acknowledged], [entry('k-0')]), []);
});

test('an acknowledged request without an entry is lost', () => {
  assert.equal(faultsOf([acknowledged], []), ['k-0 is acknowledged and has 0 entries']);
});

test('a request whose entry is there twice was applied twice', () => {
  const twice = [entry('k-0'), entry('k-0', { after: '8' })];
  assert.equal(faultsOf([acknowledged], twice), ['k-0 is acknowledged and has 2 entries']);
  assert.equal(faultsOf([unknown], twice), ['k-0 is unknown and has 2 entries']);
});

test('a refused request must have no entry, one of unknown outcome may', () => {
  assert.equal(faultsOf([refused], [entry('k-0')]), ['k-0 is refused and has 1 entries']);
  assert.equal(faultsOf([refused], []), []);
  assert.equal(faultsOf([unknown], []), []);
  assert.equal(faultsOf([unknown], [entry('k-0')]), []);
});

test('a bulk is there as a whole', () => {
  const half = [entry('k-0')];
  const whole = [...half, entry('k-0', { after: '8' })];
  assert.equal(faultsOf([acknowledged], whole, 2), []);
  assert.equal(faultsOf([unknown], half, 2), ['k-0 is unknown and has 1 entries']);
});

test('an entry under a key that nobody sent is found', () => {
  assert.equal(faultsOf([], [entry('k-7')]), ['k-7 was never sent and has entries']);
});

test('entries of others are no business of this load', () => {
  assert.equal(faultsOf([], [entry(null), entry('other-1', { after: '8' })]), []);
});

test('a balance below zero is found', () => {
  const faults = faultsOf([acknowledged], [entry('k-0', { after: '-1' })]);
  assert.equal(faults, ['wallet-a.w: the balance is -1']);
});

test('a balance that does not follow from the one before it is found', () => {
  assert.equal(faultsOf([], [entry(null), entry(null, { after: '8' })]), []);
  assert.equal(faultsOf([], [entry(null), entry(null)]), ['wallet-a.w: 9 and 1 do not make 9']);
  assert.equal(faultsOf([], [entry(null), entry(null, { stream: 'wallet-a.v' })]), []);
});

test('loads go up, and events that move nothing are passed over', () => {
  const load = entry(null, { type: 'CreditsLoaded', after: '11' });
  const frozen = { stream: 'wallet-a.w', type: 'WalletFrozen', data: {} };
  const check = new LedgerCheck({ keys: 'k', outcomes: new Uint8Array(), entriesPerKey: 1 });
  for (const event of [load, frozen]) check.take(event);
  assert.equal(check.faults(), []);
  assert.is(check.entries, 1);
  assert.is(check.balances.get('wallet-a.w'), 11n);
});

test.run();
