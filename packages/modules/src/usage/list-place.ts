import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** The place of a usage event in every list: its timestamp, and where the log has it. */
export interface ListPlace {
  readonly at: string;
  readonly position: string | number;
  readonly number: string | number;
}

/** The place as the `iter_last_key` of a page tells it. */
export const keyOf = ({ at, position, number }: ListPlace): string => `${at}.${position}.${number}`;

const date = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';
const time = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z';
const keyPattern = new RegExp(`^(${date}T${time})\\.(\\d{1,19})\\.(\\d{1,9})$`);

/** The largest position that PostgreSQL counts to. */
const lastPosition = 2n ** 63n - 1n;

/** The place of a key that `keyOf` may have made; null for any other text, which no query could compare. */
export function placeOf(key: string): ListPlace | null {
  const [, at = '', position = '', number = ''] = keyPattern.exec(key) ?? [];
  if (!instantSchema.safeParse(at).success || BigInt(position) > lastPosition) return null;
  return { at, position, number };
}

/** A key that a page ended with. */
export const listKeySchema = z
  .string()
  .max(64)
  .refine((key) => placeOf(key) !== null, 'must be the iter_last_key of a page')
  .meta({
    pattern: keyPattern.source,
    example: '2026-01-31T12:00:00.000Z.48213.0',
  });
