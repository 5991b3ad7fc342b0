import type { DecimalText } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bearer, sharesOf } from './shares.ts';

const test = suite('what wallets bear of what is owed (E 18.8, D21)');

type Types = Bearer['price_types'];
const bearer = (worth: number, ...price_types: Types): Bearer => ({
  worth: String(worth) as DecimalText,
  price_types,
});
const owed = (running: number, usage: number, rest: number) => ({
  running: String(running) as DecimalText,
  usage: String(usage) as DecimalText,
  rest: String(rest) as DecimalText,
});

const examples: readonly [string, readonly Bearer[], ReturnType<typeof owed>, readonly string[]][] =
  [
    ['one for usage', [bearer(5, 'USAGE')], owed(22, 3, 50), ['22 3']],
    ['one for all', [bearer(5, 'ALL')], owed(22, 3, 50), ['22 53']],
    ['one for fixed charges', [bearer(5, 'FIXED')], owed(22, 3, 50), ['0 53']],
    ['one for both', [bearer(100, 'USAGE', 'FIXED')], owed(22, 3, 50), ['22 53']],
    [
      'the first that suffices',
      [bearer(30, 'USAGE'), bearer(9, 'USAGE')],
      owed(22, 0, 0),
      ['22 0', '0 0'],
    ],
    [
      'two, in their order',
      [bearer(5, 'USAGE'), bearer(9, 'USAGE')],
      owed(10, 2, 0),
      ['3 2', '7 0'],
    ],
    [
      'the last, below zero',
      [bearer(5, 'USAGE'), bearer(1, 'USAGE')],
      owed(9, 0, 0),
      ['5 0', '4 0'],
    ],
    ['the last that may', [bearer(5, 'ALL'), bearer(1, 'USAGE')], owed(0, 0, 9), ['0 9', '0 0']],
    [
      'one below zero already',
      [bearer(-5, 'USAGE'), bearer(6, 'USAGE')],
      owed(2, 0, 0),
      ['0 0', '2 0'],
    ],
    ['nobody', [], owed(9, 9, 9), []],
  ];

for (const [name, bearers, what, expected] of examples) {
  test(name, () => {
    assert.equal(
      sharesOf(bearers, what).map(
        (share) => `${share.current_period_usage} ${share.unpaid_invoices_amount}`,
      ),
      expected,
    );
  });
}

test('everything that some wallet may pay is borne once, and none is overdrawn before the last that may pay it', () => {
  const money = fc.integer({ min: 0, max: 50 });
  const types = fc.subarray(['ALL', 'USAGE', 'FIXED'] as const, { minLength: 1 });
  const bearers = fc.array(fc.record({ worth: money, types }), { maxLength: 4 });
  fc.assert(
    fc.property(bearers, money, money, money, (given, running, usage, rest) => {
      const all = given.map((each) => bearer(each.worth, ...each.types));
      const shares = sharesOf(all, owed(running, usage, rest));
      const has = (...wanted: Types) =>
        all.some(({ price_types }) => wanted.some((type) => price_types.includes(type)));
      const expected =
        (has('ALL', 'USAGE') ? running : 0) +
        (all.length > 0 ? usage : 0) +
        (has('ALL', 'FIXED') ? rest : 0);
      const borne = shares.map(
        (share) => Number(share.current_period_usage) + Number(share.unpaid_invoices_amount),
      );
      const sum = borne.reduce((total, each) => total + each, 0);
      const over = borne.filter((each, index) => each > (given[index]?.worth ?? 0));
      return sum === expected && over.length <= 2;
    }),
    { numRuns: 100 },
  );
});

test.run();
