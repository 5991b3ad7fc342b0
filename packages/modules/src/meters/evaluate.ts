import { type Decimal, decimal, decimalPlaces, divide, zero } from '@counterfoil/kernel';
import type { ASTNode } from '@marcbachmann/cel-js';
import { parsedExpression } from './expression.ts';

/** The value of an expression for the numbers that an event has under some names. */
export type Evaluate = (numberOf: (property: string) => Decimal) => Decimal;

/** An expression has no value for an event, and why. */
export class NoValue extends Error {
  override readonly name = 'NoValue';
}

/** The largest whole exponent that is carried out by multiplication. */
const powerMaximum = 64;
/** Digits of a product: an expression of powers of powers must not fill the memory. */
const digitsMaximum = 500;

/**
 * Makes the evaluation of an expression that was checked before (E 4.3). Everything is decimal: sums and products are
 * exact, a quotient that does not end has 15 fraction digits (D53). Roots, logarithms and powers that are not
 * whole are those of doubles. The evaluation throws `NoValue` on a division by zero and where no number comes out.
 */
export function evaluation(text: string): Evaluate {
  const root = parsedExpression(text);
  return (numberOf) => numberIn(root, numberOf);
}

type NumberOf = (property: string) => Decimal;

function numberIn(node: ASTNode, of: NumberOf): Decimal {
  const both = ([left, right]: readonly [ASTNode, ASTNode]) =>
    [numberIn(left, of), numberIn(right, of)] as const;
  switch (node.op) {
    case 'id':
      return of(node.args);
    case 'value':
      return decimal(String(node.args));
    case '+': {
      const [left, right] = both(node.args);
      return left.plus(right);
    }
    case '-': {
      const [left, right] = both(node.args);
      return left.minus(right);
    }
    case '*': {
      const [left, right] = both(node.args);
      return product(left, right);
    }
    case '/': {
      const [left, right] = both(node.args);
      return quotient(left, right);
    }
    case '-_':
      return zero.minus(numberIn(node.args, of));
    case '?:': {
      const [condition, then, otherwise] = node.args;
      return numberIn(truthIn(condition, of) ? then : otherwise, of);
    }
    case 'call': {
      const [name, given] = node.args;
      return called(
        name,
        given.map((argument: ASTNode) => numberIn(argument, of)),
      );
    }
    default:
      throw new NoValue(`${node.op} gives no number`);
  }
}

function truthIn(node: ASTNode, of: NumberOf): boolean {
  const compared = ([left, right]: readonly [ASTNode, ASTNode]): number =>
    numberIn(left, of).cmp(numberIn(right, of));
  switch (node.op) {
    case 'value':
      return node.args === true;
    case '<':
      return compared(node.args) < 0;
    case '<=':
      return compared(node.args) <= 0;
    case '>':
      return compared(node.args) > 0;
    case '>=':
      return compared(node.args) >= 0;
    case '==':
      return compared(node.args) === 0;
    case '!=':
      return compared(node.args) !== 0;
    case '&&':
      return truthIn(node.args[0], of) && truthIn(node.args[1], of);
    case '||':
      return truthIn(node.args[0], of) || truthIn(node.args[1], of);
    case '!_':
      return !truthIn(node.args, of);
    case '?:': {
      const [condition, then, otherwise] = node.args;
      return truthIn(truthIn(condition, of) ? then : otherwise, of);
    }
    default:
      throw new NoValue(`${node.op} gives no truth`);
  }
}

function product(left: Decimal, right: Decimal): Decimal {
  if (left.c.length + right.c.length > digitsMaximum) throw new NoValue('it becomes too long');
  return left.times(right);
}

function quotient(dividend: Decimal, divisor: Decimal): Decimal {
  if (divisor.eq(zero)) throw new NoValue('it divides by zero');
  return divide(dividend, divisor, decimalPlaces.quantity);
}

const one = decimal('1');
const half = decimal('0.5');

/** The greatest whole number that is not above a decimal. */
function floor(value: Decimal): Decimal {
  const whole = value.round(0, 0);
  return whole.cmp(value) > 0 ? whole.minus(one) : whole;
}

/** Half away from zero (E 4.3). */
const rounded = (value: Decimal): Decimal =>
  value.cmp(zero) < 0 ? zero.minus(floor(value.abs().plus(half))) : floor(value.plus(half));

function called(name: string, [first = zero, ...others]: readonly Decimal[]): Decimal {
  switch (name) {
    case 'max':
      return others.reduce((most, value) => (value.cmp(most) > 0 ? value : most), first);
    case 'min':
      return others.reduce((least, value) => (value.cmp(least) < 0 ? value : least), first);
    case 'abs':
      return first.abs();
    case 'floor':
      return floor(first);
    case 'ceil':
      return zero.minus(floor(zero.minus(first)));
    case 'round':
      return rounded(first);
    case 'pow':
      return power(first, others[0] ?? one);
    case 'sqrt':
      return ofDouble(Math.sqrt(doubleOf(first)));
    case 'log':
      return ofDouble(Math.log(doubleOf(first)));
    default:
      throw new NoValue(`there is no function ${name}`);
  }
}

function power(base: Decimal, exponent: Decimal): Decimal {
  const isWhole = exponent.eq(floor(exponent));
  if (!isWhole || exponent.abs().cmp(decimal(String(powerMaximum))) > 0) {
    return ofDouble(doubleOf(base) ** doubleOf(exponent));
  }
  let result = one;
  for (let times = exponent.abs(); times.cmp(zero) > 0; times = times.minus(one)) {
    result = product(result, base);
  }
  return exponent.cmp(zero) < 0 ? quotient(one, result) : result;
}

const doubleOf = (value: Decimal): number => +value.toFixed();

function ofDouble(value: number): Decimal {
  if (!Number.isFinite(value)) throw new NoValue('it gives no finite number');
  return decimal(String(value)).round(decimalPlaces.quantity);
}
