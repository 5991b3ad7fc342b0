import {
  type EventOf,
  existing,
  type Id,
  type IdPrefix,
  referenceSchema,
  type Stamped,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  changedRecord,
  closedRecord,
  createdRecord,
  type Kept,
  takenAlongData,
} from '../records.ts';

type Shape = Readonly<Record<string, z.ZodType>>;
type Fields<Of extends Shape> = { readonly [Name in keyof Of]: z.output<Of[Name]> };

/** The events of an offer itself: created, updated with what changed, and out of use with what it owns. */
type RootEvents<
  Title extends string,
  End extends string,
  Prefix extends IdPrefix,
  Fixed extends Shape,
  Changeable extends Shape,
> = Readonly<
  Record<`${Title}Created`, z.ZodType<{ id: Id<Prefix> } & Fields<Fixed> & Fields<Changeable>>> &
    Record<`${Title}Updated`, z.ZodType<{ changes: Partial<Fields<Changeable>> }>> &
    Record<`${Title}${End}`, typeof takenAlongData>
>;

/** Declares the fields and the end of one kind of offer, without what it owns. */
function root<
  const Title extends string,
  const End extends 'Archived' | 'Deleted',
  Prefix extends IdPrefix,
  Fixed extends Shape,
  Changeable extends Shape,
>(definition: {
  readonly title: Title;
  readonly end: End;
  readonly prefix: Prefix;
  readonly called: string;
  readonly fixed: Fixed;
  readonly changeable: Changeable;
}) {
  const { title, end, prefix, called, fixed, changeable } = definition;
  type Events = RootEvents<Title, End, Prefix, Fixed, Changeable>;
  type Root = { readonly id: Id<Prefix> } & Fields<Fixed> & Fields<Changeable> & Kept;
  const created = `${title}Created` as const;
  const events = {
    [created]: z.object({ id: referenceSchema(prefix), ...fixed, ...changeable }),
    [`${title}Updated`]: z.object({ changes: z.object(changeable).partial() }),
    [`${title}${end}`]: takenAlongData,
  } as unknown as Events;
  /** Returns the offer itself after one of its events. */
  const after = (before: Root | null, event: Stamped<EventOf<Events>>): Root => {
    const { type, data, stamp } = event as Stamped<{ type: string; data: unknown }>;
    if (type === created) return createdRecord(data as Omit<Root, keyof Kept>, stamp) as Root;
    const known = existing(before, called);
    if (type === `${title}Updated`) {
      return changedRecord(known, (data as { changes: Partial<Root> }).changes, stamp);
    }
    return closedRecord(known, end === 'Archived' ? 'archived' : 'deleted', stamp);
  };
  return { ...definition, events, after };
}

type RootOf<Kind extends { readonly after: (...given: never) => unknown }> = ReturnType<
  Kind['after']
>;
type RootEventOf<Kind extends { readonly events: Shape }> = EventOf<Kind['events']>;

const texts = {
  name: z.string(),
  description: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
} as const;

/** A plan: what is sold. */
export const planRoot = root({
  ...{ title: 'Plan', end: 'Archived', prefix: 'plan', called: 'plan' },
  fixed: {},
  changeable: {
    ...texts,
    lookup_key: z.string().nullable(),
    display_order: z.number().int().nullable(),
  },
});
export type PlanRecord = RootOf<typeof planRoot>;
export type PlanEvent = RootEventOf<typeof planRoot>;

/** An add-on: what is sold beside a plan. Its lookup_key is for ever. */
export const addonRoot = root({
  ...{ title: 'Addon', end: 'Archived', prefix: 'addon', called: 'add-on' },
  fixed: { lookup_key: z.string() },
  changeable: texts,
});
export type AddonRecord = RootOf<typeof addonRoot>;
export type AddonEvent = RootEventOf<typeof addonRoot>;

/** A costsheet: what the tenant itself pays. */
export const costsheetRoot = root({
  ...{ title: 'Costsheet', end: 'Deleted', prefix: 'cost', called: 'costsheet' },
  fixed: {},
  changeable: { ...texts, lookup_key: z.string().nullable() },
});
export type CostsheetRecord = RootOf<typeof costsheetRoot>;
export type CostsheetEvent = RootEventOf<typeof costsheetRoot>;
