import { z } from 'zod';

/** A schema in parts that can be checked one after the other. */
export interface Parts {
  /** The schema with lists of anything in the place of its lists. */
  readonly shell: z.ZodType;
  /** The items of these lists, by the name of the member. */
  readonly items: ReadonlyMap<string, z.ZodType>;
}

/** Lists of fewer items are checked with the object that they are in. */
export const longList = 100;

/**
 * Takes the lists out of the schema of an object that may be long. Null when there are none, and when the
 * schema has conditions of its own: these need to see the items.
 */
export function partsOf(schema: z.ZodType): Parts | null {
  if (!(schema instanceof z.ZodObject) || (schema.def.checks ?? []).length > 0) return null;
  const lists = Object.entries(schema.shape).flatMap(([name, member]) =>
    member instanceof z.ZodArray && mayBeLong(member) ? [[name, member] as const] : [],
  );
  if (lists.length === 0) return null;
  const hollow = lists.map(
    ([name, { def }]) => [name, new z.ZodArray({ ...def, element: z.unknown() })] as const,
  );
  const shape = { ...schema.shape, ...Object.fromEntries(hollow) };
  return {
    shell: new z.ZodObject({ ...schema.def, shape }),
    items: new Map(lists.map(([name, { def }]) => [name, def.element as z.ZodType])),
  };
}

/** Tells whether a list may be long, and its length is all that is asked of it as a whole. */
function mayBeLong(list: z.ZodArray): boolean {
  const checks = list.def.checks ?? [];
  return checks.every(isOfLength) && maximumOf(list) > longList;
}

const isOfLength = (check: z.core.$ZodCheck<never>): boolean =>
  check instanceof z.core.$ZodCheckMaxLength || check instanceof z.core.$ZodCheckMinLength;

/** The most items of a list; infinite where its schema gives none. */
export const maximumOf = ({ def }: z.ZodArray): number =>
  Math.min(
    ...(def.checks ?? []).map((check) =>
      check instanceof z.core.$ZodCheckMaxLength
        ? check._zod.def.maximum
        : Number.POSITIVE_INFINITY,
    ),
  );
