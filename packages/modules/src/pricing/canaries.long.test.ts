import { type Canary, survivors } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** The most telling planted bugs are in ../canaries.it.test.ts. */
const test = suite('pricing canaries');

const folder = 'packages/modules/src/pricing';
const tables = ['cost-per-unit', 'cost-tiers', 'cost'];
const records = ['price-fields', 'tiers'];
const views = ['quote', 'display-amount'];

const inFile =
  (file: string) =>
  (name: string, text: string, bug: string): Canary => ({
    name,
    path: `${folder}/${file}`,
    text,
    bug,
  });

const cost = inFile('cost.ts');
const inCost: readonly Canary[] = [
  cost(
    'the minimum caps the quantity',
    'measured.cmp(minimum) < 0 ? minimum : measured',
    'measured.cmp(minimum) > 0 ? minimum : measured',
  ),
  cost(
    'buckets are added before they are priced',
    'const charges = quantities.map((quantity) => chargeFor(terms, decimal(quantity)));',
    'const charges = [chargeFor(terms, sumOf(quantities))];',
  ),
  cost(
    'each bucket is rounded',
    'charges.map(({ amount }) => amount)',
    'charges.map(({ amount }) => moneyText(money(decimal(amount), currency)))',
  ),
  cost(
    'a price in a unit is charged as if the unit were the currency',
    'charged.times(decimal(price_unit.conversion_rate))',
    'charged',
  ),
  cost('the minimum is forgotten', 'chargeFor(terms, billed)', 'chargeFor(terms, measured)'),
  cost(
    'the difference of the rounding has the wrong sign',
    'decimal(amount).minus(unrounded)',
    'unrounded.minus(decimal(amount))',
  ),
  {
    name: 'all currencies have two digits',
    path: 'packages/kernel/src/money.ts',
    text: 'const rounded = amount.round(scale, 1);',
    bug: 'const rounded = amount.round(2, 1);',
  },
];

const fields = inFile('price-fields.ts');
const tiers = inFile('tiers.ts');
const inRecords: readonly Canary[] = [
  fields(
    'SLAB is taken for VOLUME',
    "case 'SLAB':\n      return 'graduated'",
    "case 'SLAB':\n      return 'volume'",
  ),
  fields('packages are rounded down by default', "?? 'up'", "?? 'down'"),
  fields(
    'the amount in the currency is taken for that in the unit',
    'isInUnit(fields) ? fields.price_unit_amount : fields.amount',
    'fields.amount',
  ),
  fields(
    'usage has a minimum',
    "if (type !== 'FIXED') throw",
    "if (type === 'FIXED' && 0 > 1) throw",
  ),
  tiers('equal bounds pass', 'if (bound > before) return [];', 'if (bound >= before) return [];'),
  tiers(
    'a tier in the middle may be open',
    'if (index === tiers.length - 1) return [];',
    'return [];',
  ),
  tiers('negative amounts pass', 'decimal(amount).cmp(zero) < 0', 'decimal(amount).cmp(zero) > 9'),
  inFile('price-unit.ts')(
    'flat amounts stay in the unit',
    'flat_amount: inCurrency(flat_amount, conversionRate)',
    'flat_amount',
  ),
];

const inViews: readonly Canary[] = [
  inFile('quote.ts')(
    'packages are shown as a flat fee',
    "billing_model: 'PACKAGE'",
    "billing_model: 'FLAT_FEE'",
  ),
  inFile('quote.ts')(
    'the average is taken over what was measured',
    '{ unrounded_amount, billed_quantity }: Cost',
    '{ unrounded_amount, quantity: billed_quantity }: Cost',
  ),
  inFile('display-amount.ts')(
    'totals lack their last zeros',
    'rounded.toFixed(minorUnits(currency))',
    'rounded.toFixed()',
  ),
  inFile('explain.ts')(
    'the sum of buckets is not said',
    'charges.length === 1 ? []',
    'charges.length > 0 ? []',
  ),
];

const find = (canaries: readonly Canary[], names: readonly string[]) => async () => {
  const tests = names.map((name) => `${folder}/${name}.test.ts`);
  assert.equal(await survivors(canaries, tests), []);
};

test('bugs in the cost of a line are caught', find(inCost, tables));
test('bugs on the way from records to terms are caught', find(inRecords, records));
test('bugs in what is shown are caught', find(inViews, views));

test.run();
