import { type Canary, survivors } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** The most telling planted bugs are in ../canaries.it.test.ts. */
const test = suite('pricing canaries: charges');

const folder = 'packages/modules/src/pricing';
const tables = ['cost-per-unit', 'cost-tiers', 'cost'].map((name) => `${folder}/${name}.test.ts`);
const properties = [`${folder}/cost.property.test.ts`];

const charge = (name: string, text: string, bug: string): Canary => ({
  name,
  path: `${folder}/charge.ts`,
  text,
  bug,
});

const canaries: readonly Canary[] = [
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

test('the tables catch every bug in the charge of a quantity', async () => {
  assert.equal(await survivors(canaries, tables), []);
});

test('the properties alone catch them too', async () => {
  assert.equal(await survivors(canaries, properties), []);
});

test.run();
