import type { Currency, DecimalText } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rateCommitment } from '../../rating/index.ts';
import { chargesByCommitment } from './overage.ts';
import type { UsageCharges } from './schema.ts';

const test = suite('usage above a commitment');

type Charge = UsageCharges['charges'][number];

/** A charge as `line: quantity = gross / net`. */
function charge(written: string): Charge {
  const [, id = '', quantity = '', gross = '', net = ''] =
    /^(\w+): (\S+) = (\S+) \/ (\S+)$/.exec(written) ?? [];
  return {
    subscription_line_item_id: id,
    ...{ exact_quantity: quantity, quantity: +quantity, free_quantity: '0' },
    ...{ exact_amount: gross, amount: +gross, net_amount: net, currency: 'usd' },
    is_overage: false,
  } as unknown as Charge;
}

const shown = (each: Charge): string =>
  `${each.subscription_line_item_id}${each.is_overage ? ` ×${each.overage_factor}` : ''}: ` +
  `${each.exact_quantity} = ${each.exact_amount} / ${each.net_amount}`;

const table = [
  // E 14.2 by money: 100 + 50 × 2 = 200, where whole units would come to 201.
  [
    '100',
    '2',
    '0',
    ['a: 50 = 150 / 150'],
    ['a: 33.333333333333333 = 100 / 100', 'a ×2: 16.666666666666667 = 100 / 100'],
  ],
  ['100', '2', '0', ['a: 10 = 30 / 30'], ['a: 10 = 30 / 30']],
  // E 14.3: 60 a year, of which 50 and then 70 are used.
  ['60', '2', '50', ['a: 12 = 12 / 12'], ['a: 10 = 10 / 10', 'a ×2: 2 = 4 / 4']],
  ['60', '2', '70', ['a: 12 = 12 / 12'], ['a ×2: 12 = 24 / 24']],
  [
    '60',
    '2',
    '50',
    ['a: 5 = 5 / 5', 'b: 7 = 7 / 7'],
    [
      'a: 4.17 = 4.17 / 4.17',
      'a ×2: 0.83 = 1.66 / 1.66',
      'b: 5.83 = 5.83 / 5.83',
      'b ×2: 1.17 = 2.34 / 2.34',
    ],
  ],
  // What is free does not count for what is to be paid.
  ['100', '2', '0', ['a: 120 = 120 / 90'], ['a: 100 = 100 / 90', 'a ×2: 20 = 40 / 0']],
  ['100', '2', '0', ['a: 0 = 0 / 0'], ['a: 0 = 0 / 0']],
  // At a factor of one nothing costs more.
  ['100', '1', '0', ['a: 120 = 120 / 120'], ['a: 120 = 120 / 120']],
] as const;

for (const [committed, overage_factor, prior, given, expected] of table) {
  test(`${committed} ×${overage_factor}, ${prior} used before: ${given.join(', ')}`, () => {
    const charges = given.map(charge);
    const rated = (which: 'exact_amount' | 'net_amount') =>
      rateCommitment({
        currency: 'usd' as Currency,
        committed: committed as DecimalText,
        overage_factor: overage_factor as DecimalText,
        prior: prior as DecimalText,
        trues_up: false,
        lines: charges.map((each) => ({
          line_id: each.subscription_line_item_id,
          amount: each[which] as DecimalText,
        })),
      });
    const both = { gross: rated('exact_amount'), net: rated('net_amount') };
    assert.equal(chargesByCommitment(charges, both).map(shown), expected);
  });
}

test.run();
