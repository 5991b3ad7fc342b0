import { BrokenInvariant, type Currency } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rateCommitment } from './rate.ts';
import type { SubscriptionCommitment } from './subscription-commitment.ts';
import { commitmentTerm } from './term.ts';
import { at, span, text, usd } from './test-lines.ts';

const test = suite('commitments of subscriptions');

const commitment = (
  committed: string,
  overage_factor: string,
  amounts: readonly string[],
  more: Partial<SubscriptionCommitment> = {},
): SubscriptionCommitment => ({
  currency: usd,
  committed: text(committed),
  overage_factor: text(overage_factor),
  prior: text('0'),
  trues_up: false,
  lines: amounts.map((amount, index) => ({ line_id: `line_${index}`, amount: text(amount) })),
  ...more,
});

/** The charge in all, and that of each line within the commitment and above it. */
function charged(given: SubscriptionCommitment) {
  const { charged: all, utilized, overage, true_up, lines } = rateCommitment(given);
  return [all, utilized, overage, true_up, lines.map((line) => `${line.utilized}+${line.overage}`)];
}

test('E 14.2 B the split is by money, and nothing leaks', () => {
  assert.equal(charged(commitment('100', '2', ['150'])), ['200', '100', '100', '0', ['100+100']]);
});

test('E 14.2 B the order of the lines does not matter', () => {
  assert.equal(charged(commitment('100', '2', ['50', '150'])), [
    '300',
    '100',
    '200',
    '0',
    ['25+50', '75+150'],
  ]);
});

test('E 14.3 a later period', () => {
  const prior = { prior: text('50') };
  assert.equal(charged(commitment('60', '2', ['12'], prior)), ['14', '10', '4', '0', ['10+4']]);
});

test('E 14.3 a term that is used up', () => {
  const prior = { prior: text('70') };
  assert.equal(charged(commitment('60', '2', ['12'], prior)), ['24', '0', '24', '0', ['0+24']]);
});

test('E 14.3 two lines share what is left, to the smallest unit', () => {
  const prior = { prior: text('50') };
  assert.equal(charged(commitment('60', '2', ['5', '7'], prior)), [
    '14',
    '10',
    '4',
    '0',
    ['4.17+1.66', '5.83+2.34'],
  ]);
});

test('E 14.3 B the first period is like any other: nothing is trued up before the end of the term', () => {
  assert.equal(charged(commitment('1200', '1.5', ['80'])), ['80', '80', '0', '0', ['80+0']]);
});

test('E 14.2 what is left at the end of a term is a true-up of its own', () => {
  const last = { prior: text('1000'), trues_up: true };
  assert.equal(charged(commitment('1200', '1.5', ['80', '0'], last)), [
    '200',
    '80',
    '0',
    '120',
    ['80+0', '0+0'],
  ]);
  assert.equal(charged(commitment('100', '1.5', [], { trues_up: true })), [
    '100',
    '0',
    '0',
    '100',
    [],
  ]);
});

test('a factor of one leaves the amounts as they are', () => {
  assert.equal(charged(commitment('10', '1', ['4', '9'])), [
    '13',
    '10',
    '3',
    '0',
    ['3.08+0.92', '6.92+2.08'],
  ]);
});

test('the overage is rounded over the term, not in each period', () => {
  const first = rateCommitment(commitment('1', '1.5', ['1.01']));
  const second = rateCommitment(commitment('1', '1.5', ['0.01'], { prior: text('1.01') }));
  // 0.015 and 0.015 are 0.03 together.
  assert.equal([first.overage, second.overage], ['0.02', '0.01']);
  assert.equal(second.term_overage.before, first.term_overage.through);
});

test('a currency without digits', () => {
  const yen = { currency: 'jpy' as Currency };
  assert.equal(charged(commitment('100', '1.25', ['67', '67'], yen)), [
    '143',
    '100',
    '43',
    '0',
    ['50+22', '50+21'],
  ]);
});

test('what is no money is refused', () => {
  for (const given of [
    commitment('10.005', '2', ['1']),
    commitment('10', '2', ['1.001']),
    commitment('10', '2', ['-1']),
    commitment('10', '0.5', ['1']),
  ]) {
    assert.throws(
      () => rateCommitment(given),
      (error: unknown) => error instanceof BrokenInvariant,
    );
  }
});

for (const [start, duration, billing, expected] of [
  ['2026-01-31', 'ANNUAL', ['2026-12-31', '2027-01-31'], [0, '2026-01-31', '2027-01-31', true]],
  ['2026-01-31', 'ANNUAL', ['2027-01-31', '2027-02-28'], [1, '2027-01-31', '2028-01-31', false]],
  ['2026-01-31', 'MONTHLY', ['2026-02-28', '2026-03-31'], [1, '2026-02-28', '2026-03-31', true]],
  ['2026-01-20', 'QUARTERLY', ['2026-04-01', '2026-05-01'], [0, '2026-01-20', '2026-04-20', true]],
  ['2026-01-20', 'QUARTERLY', ['2026-05-01', '2026-06-01'], [1, '2026-04-20', '2026-07-20', false]],
] as const) {
  test(`E 14.3 B the term of ${billing.join(' to ')} from ${start}, ${duration}`, () => {
    const term = commitmentTerm(at(start), duration, 'UTC', span(billing[0], billing[1]));
    const [index, from, to, is_last_period] = expected;
    assert.equal(term, { index, ...span(from, to), is_last_period });
  });
}

test.run();
