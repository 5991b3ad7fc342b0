import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadCredits, settleDue } from '../decisions.ts';
import { captureHold, holdCredits, voidHold } from '../holds/decisions.ts';
import { effectiveAt } from '../ledger/times.ts';
import { at, create, debit, details, history, holdOf, id, load, text } from '../test-wallet.ts';
import { balanceAdder } from './time-travel.ts';

const test = suite('time travel');

const balance = (events: ReturnType<typeof history>, asOf: number, knownAt: number) => {
  const adder = balanceAdder(at(asOf), at(knownAt));
  for (const event of events) adder.take(event);
  return adder.result();
};

/** Credits that expire at a second. */
const expiring = (credits: string, second: number) => load(credits, { expiresAt: at(second) });

test('credits that expired are gone from their instant on, once the log knows it', () => {
  const events = history(
    [0, create()],
    [1, loadCredits(id, [expiring('10', 5), load('7')])],
    [20, settleDue(id)],
  );
  assert.is(balance(events, 6, 6).credit_balance, '17', 'as it was known then');
  assert.is(balance(events, 6, 20).credit_balance, '7', 'as it is known since the booking');
  assert.is(balance(events, 4, 20).credit_balance, '17', 'before the instant it was there');
});

test('at every moment it equals the balance that the wallet had', () => {
  const steps = [
    [0, create()],
    [1, loadCredits(id, [load('10')])],
    [2, debit('3')],
    [3, holdCredits(id, holdOf('a', '5'))],
    [4, loadCredits(id, [load('1')])],
    [5, captureHold(id, 'hold_a', text('2'), details())],
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

/** Ten credits that expire at second 5, of which four are held from second 2 on. */
const partlyHeld = (holdExpires: number | null) =>
  [
    [0, create()],
    [1, loadCredits(id, [expiring('10', 5)])],
    [2, holdCredits(id, holdOf('a', '4', holdExpires === null ? null : at(holdExpires)))],
  ] as const;

test('what is held when its lot expires is gone when it comes back, and the rest before', () => {
  const events = history(...partlyHeld(8), [20, settleDue(id)]);
  assert.equal(
    events.slice(3).map((event) => [event.type, effectiveAt(event)]),
    [
      ['CreditsExpired', at(5)],
      ['HoldReleased', at(8)],
      ['CreditsExpired', at(8)],
    ],
  );
  for (const [second, credits, held] of [
    [4, '10', '4'],
    [5, '4', '4'],
    [7, '4', '4'],
    [8, '0', '0'],
    [19, '0', '0'],
  ] as const) {
    const then = balance(events, second, 20);
    assert.equal([then.credit_balance, then.credits_held], [credits, held], `at ${second}`);
    assert.ok(then.lots.every(({ remaining }) => !remaining.startsWith('-')));
  }
});

test('what a void or a capture gives back too late expires at that moment', () => {
  for (const end of [voidHold(id, 'hold_a'), captureHold(id, 'hold_a', text('1'), details())]) {
    const events = history(...partlyHeld(null), [6, settleDue(id)], [9, end]);
    assert.is(events.at(-1)?.type, 'CreditsExpired');
    assert.is(effectiveAt(events.at(-1) as (typeof events)[number]), at(9));
    assert.is(balance(events, 8, 9).credit_balance, '4');
    assert.is(balance(events, 9, 9).credit_balance, '0');
  }
});

test('a lot that comes back at the very instant of its expiry expires whole', () => {
  const events = history(...partlyHeld(5), [20, settleDue(id)]);
  assert.equal(
    events.slice(3).map(({ type }) => type),
    ['HoldReleased', 'CreditsExpired'],
  );
});

test.run();
