import { BrokenInvariant } from '@counterfoil/kernel';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Thirteen digits of five bits hold every 64-bit position. */
const positionDigits = 13;
/** More messages about one event than this are a mistake of the publisher. */
const messagesPerEventMaximum = 10_000;

function encodePosition(position: bigint): string {
  if (position < 0n || position >= 1n << 64n) {
    throw new BrokenInvariant(`${position} is no position of a log`);
  }
  // The digits of base 32 that JavaScript knows, in Crockford's letters.
  const digits = position.toString(32).padStart(positionDigits, '0');
  return digits.replace(/[a-v]/g, (digit) => alphabet[Number.parseInt(digit, 32)] ?? '');
}

/**
 * An index as text that sorts as the numbers do: `0` to `9`, then `A10` to `A99`, `B100` and so on,
 * where the letter says how many digits follow.
 */
function encodeIndex(index: number): string {
  if (!Number.isInteger(index) || index < 0 || index >= messagesPerEventMaximum) {
    throw new BrokenInvariant(`${index} is no index of a message`);
  }
  const digits = String(index);
  return digits.length === 1 ? digits : `${alphabet[8 + digits.length]}${digits}`;
}

/**
 * The id of the nth public message about the event at a position: `evt_`, the position in
 * 13 digits of Crockford's base 32, `_`, the index. It is the same for ever, it sorts in the
 * order of the log, and it is signed with a webhook, which gives receivers a mark of order.
 */
export const messageId = (position: bigint, index: number): string =>
  `evt_${encodePosition(position)}_${encodeIndex(index)}`;

const idShape = /^evt_([0-9A-HJKMNP-TV-Z]{13})_[0-9A-Z]+$/;

/** The position of the event that a message with this id is about; null for a text that is no such id. */
export function messagePosition(id: string): bigint | null {
  const [, digits] = idShape.exec(id) ?? [];
  if (digits === undefined) return null;
  return [...digits].reduce((sum, digit) => sum * 32n + BigInt(alphabet.indexOf(digit)), 0n);
}
