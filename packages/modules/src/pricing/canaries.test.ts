import { type Canary, survivors } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('pricing canaries');

const folder = 'packages/modules/src/pricing';
const tables = ['cost-per-unit', 'cost-tiers', 'cost'];
const properties = ['cost.property'];
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

const charge = inFile('charge.ts');
const inCharge: readonly Canary[] = [
  charge(
    'a bound belongs to the tier above (volume)',
    'quantity.cmp(decimal(up_to)) <= 0)',
    'quantity.cmp(decimal(up_to)) < 0)',
  ),
  charge(
    'nothing is charged above a last tier with a bound',
    'const part = isLast ? left : smaller(left, room);',
    'const part = smaller(left, room);',
  ),
  charge(
    'a tier holds as much as its bound says, not as lies above the bound before',
    'decimal(up_to).minus(decimal(boundBelow(tiers, index)))',
    'decimal(up_to)',
  ),
  charge(
    'above a last tier with a bound a volume falls back to the first',
    'found < 0 ? tiers.length - 1 : found',
    'found < 0 ? 0 : found',
  ),
  charge(
    'a volume price charges its flat amount for nothing',
    'if (quantity.eq(zero)) return [];',
    '',
  ),
  charge(
    'a graduated price touches the next tier at its bound',
    'if (left.cmp(zero) <= 0) break;',
    'if (left.cmp(zero) < 0) break;',
  ),
  charge(
    'flat amounts are charged for each unit',
    'textOf(quantity.times(decimal(unit_amount)).plus(decimal(flat_amount)))',
    'textOf(quantity.times(decimal(unit_amount).plus(decimal(flat_amount))))',
  ),
  charge('flat amounts are forgotten', '.plus(decimal(flat_amount))', ''),
  charge(
    'a started package does not count',
    'return side < 0 ? nearest.plus(one) : nearest;',
    'return nearest;',
  ),
  charge(
    'a full package counts twice',
    'return side < 0 ? nearest.plus(one) : nearest;',
    'return side <= 0 ? nearest.plus(one) : nearest;',
  ),
  charge(
    'a package that is not full counts although rounded down',
    'return side > 0 ? nearest.minus(one) : nearest;',
    'return nearest;',
  ),
  charge(
    'packages are always rounded up',
    "if (round === 'up') return",
    'if (round.length > 0) return',
  ),
  charge(
    'the division keeps a digit too many',
    'divide(quantity, size, 0)',
    'divide(quantity, size, 1)',
  ),
  charge(
    'what packages hold more is shown with the wrong sign',
    'textOf(packages.times(size).minus(quantity))',
    'textOf(quantity.minus(packages.times(size)))',
  ),
];

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
    'the amount is rounded before it is converted',
    'charged.times(decimal(price_unit.conversion_rate))',
    'decimal(moneyText(money(charged, currency))).times(decimal(price_unit.conversion_rate))',
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
    name: 'halves are rounded to even',
    path: 'packages/kernel/src/money.ts',
    text: 'amount.round(scale, 1)',
    bug: 'amount.round(scale, 2)',
  },
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

test('bugs in the charge of a quantity: the tables catch them', find(inCharge, tables));
test('bugs in the charge of a quantity: the properties catch them too', find(inCharge, properties));
test('bugs in the cost of a line are caught', find(inCost, tables));
test('bugs on the way from records to terms are caught', find(inRecords, records));
test('bugs in what is shown are caught', find(inViews, views));

test.run();
