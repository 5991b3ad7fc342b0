import type { RatingRequest } from '../request.ts';
import type { SubscriptionCommitment } from '../subscription-commitment.ts';
import {
  at,
  buckets,
  committing,
  fixedLine,
  flat,
  inUnit,
  limited,
  overTerm,
  packed,
  span,
  text,
  tiered,
  usageLine,
  usd,
  windows,
} from '../test-lines.ts';

const jpy = 'jpy' as typeof usd;
const kwd = 'kwd' as typeof usd;
const calls = tiered('graduated', '1000@0.02 5000@0.005 ∞@0.01');
const steps = tiered('graduated', '5@0+1 10@1+2 ∞@2');
const day = span('2026-03-28T23:00Z', '2026-03-29T22:00Z');
const hours = buckets(
  'HOUR',
  'Europe/Berlin',
  '2026-03-28T23:00Z=9/a',
  '2026-03-28T23:00Z=15.5/b',
  '2026-03-29T01:00Z=-2/a',
  '2026-03-29T20:00Z=0.25/a',
);

/** Lines of every kind, by name: each price model, allowance and commitment at least once. */
export const exampleLines: Readonly<Record<string, RatingRequest>> = {
  'a fixed fee': fixedLine(flat('10.333333'), '3'),
  'a fixed fee in yen': fixedLine(flat('10.5'), '1', jpy),
  'a minimum quantity': fixedLine({ ...flat('3'), minimum_quantity: text('5') }, '2'),
  'a fixed volume price': fixedLine(tiered('volume', '10@50 20@40 ∞@30'), '10.001'),
  'so much for each': usageLine(flat('0.0004'), windows('12345.678')),
  'packages rounded up': usageLine(packed('50', '10'), windows('25')),
  'packages rounded down': usageLine(packed('1', '100', 'down'), windows('250')),
  'tiers, graduated': usageLine(calls, windows('7500')),
  'tiers with flat amounts': usageLine(steps, windows('12')),
  'tiers, volume, at a bound': usageLine(tiered('volume', '10@50 20@40 ∞@30'), windows('20')),
  'a last tier with a bound': usageLine(tiered('graduated', '10@1 20@2'), windows('30')),
  'nothing was used': usageLine(steps, windows('0')),
  'corrections below zero': usageLine(steps, windows('-2.5')),
  'a price unit': usageLine(inUnit(steps, '0.0125'), windows('12'), { currency: kwd }),
  'an allowance': usageLine(calls, windows('1300'), { allowance: limited('100') }),
  'an allowance without limit': usageLine(calls, windows('1300'), { allowance: limited(null) }),
  'an allowance by the day': usageLine(flat('0.02'), windows('15', '3', '12'), {
    allowance: limited('10', 'DAILY'),
  }),
  'an allowance that never starts over': usageLine(flat('1'), windows('50..150'), {
    allowance: limited('100', 'NEVER'),
  }),
  'weeks across the period': usageLine(calls, windows('40..60', '30', '80'), {
    allowance: limited('50', 'WEEKLY'),
  }),
  'buckets and groups': usageLine(tiered('graduated', '10@0.1 20@0.05 ∞@0.02'), hours, {
    period: day,
  }),
  'a commitment, above': usageLine(flat('1'), windows('15'), {
    commitment: overTerm(committing('10', '1.5')),
  }),
  'a commitment, trued up': usageLine(flat('1'), windows('3'), {
    commitment: overTerm(committing('5', '2', true)),
  }),
  'a commitment of a quantity in a running term': usageLine(calls, windows('700'), {
    commitment: overTerm(committing('1500 units', '1.25', true), '20.123', false),
  }),
  'an allowance and a commitment': usageLine(calls, windows('100..1400.5'), {
    allowance: limited('300', 'QUARTERLY'),
    commitment: overTerm(committing('20', '1.5')),
  }),
  'a commitment of every hour, and of the night': usageLine(flat('1'), hours, {
    period: day,
    commitment: {
      kind: 'windowed',
      terms: committing('5', '2', true),
      slots: [
        {
          from_minute: 22 * 60,
          to_minute: 2 * 60,
          terms: packed('4', '10'),
          commitment: committing('11 units', '3'),
        },
      ],
      as_of: at('2026-03-29T21:30Z'),
    },
  }),
};

const covered = (...amounts: string[]) =>
  amounts.map((amount, index) => ({ line_id: `subs_line_${index}`, amount: text(amount) }));

/** Commitments of subscriptions, by name. */
export const exampleCommitments: Readonly<Record<string, SubscriptionCommitment>> = {
  'a subscription, above': {
    currency: usd,
    committed: text('60'),
    overage_factor: text('1.3333'),
    prior: text('50'),
    trues_up: false,
    lines: covered('5', '7.01', '0'),
  },
  'a subscription, trued up': {
    currency: jpy,
    committed: text('1200'),
    overage_factor: text('1.5'),
    prior: text('1000'),
    trues_up: true,
    lines: covered('80'),
  },
};
