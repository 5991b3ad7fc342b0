import { createHash } from 'node:crypto';

/** An object of an export, of which nothing is known yet. */
export type Data = Record<string, unknown>;

/** The first fault of the ledger, in words. */
export class LedgerFault extends Error {}

/** The reason why nothing could be checked: a fault of the input, not of the ledger. */
export class UnusableInput extends Error {}

/** Throws a `LedgerFault` unless a condition holds. */
export function must(condition: unknown, fault: string): asserts condition {
  if (!condition) throw new LedgerFault(fault);
}

/** The SHA-256 of a text or of bytes, in hexadecimal digits. */
export const sha256 = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex');

/** RFC 8785: members in code unit order, no white space. */
export function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`;
}

/** Figures are whole numbers of 10⁻⁴⁰; 20 digits each, so that a product is exact. */
export const one = 10n ** 40n;
/** The figure that a canonical decimal is; throws a `LedgerFault` that names `what` for anything else. */
export function figure(value: unknown, what: string): bigint {
  const isDecimal = typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d{0,19}[1-9])?$/.test(value);
  must(isDecimal && value !== '-0', `${what} is no decimal in canonical form`);
  const [whole, fraction = ''] = value.replace('-', '').split('.');
  const size = BigInt(`${whole}${fraction.padEnd(40, '0')}`);
  return value.startsWith('-') ? -size : size;
}
/** A figure as a canonical decimal. */
export function shown(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(41, '0');
  const text = `${digits.slice(0, -40)}.${digits.slice(-40)}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${text}` : text;
}

/** Tells whether credits are amount ÷ rate, rounded half to even at 9 fraction digits. */
export function isQuotient(credits: bigint, amount: bigint, rate: bigint): boolean {
  const [off, half] = [(credits * rate - amount * one) * 2n, rate * 10n ** 31n];
  const isTie = off === half || off === -half;
  return (off < half && off > -half) || (isTie && (credits / 10n ** 31n) % 2n === 0n);
}

/** The words of a text. */
export const names = (text: string): string[] => text.split(' ');
