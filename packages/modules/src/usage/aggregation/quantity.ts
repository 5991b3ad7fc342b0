import { type Decimal, decimal, maximumWholeDigits } from '@counterfoil/kernel';

/** The most digits after the point that a quantity may have (D55). */
const fractionMaximum = 15;

const plain = new RegExp(`^-?\\d{1,${maximumWholeDigits}}(\\.\\d{1,${fractionMaximum}})?$`);
const exponential = /e/i;

/**
 * The number that a property is: a JSON number, or text that spells a plain decimal (D55). Null for anything
 * else, and for one with too many digits.
 */
export function quantityOf(value: unknown): Decimal | null {
  if (typeof value === 'string') return plain.test(value) ? decimal(value) : null;
  if (typeof value !== 'number') return null;
  const text = String(value);
  if (!exponential.test(text)) return plain.test(text) ? decimal(text) : null;
  // The shortest text of a very small or large number has an exponent.
  const read = decimal(text);
  return plain.test(read.toFixed()) ? read : null;
}

/** The property as text, as filters and COUNT_UNIQUE compare it (D56); null for none. */
export function textOfProperty(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
