import { aggregate, type Decision, type EventOf } from '@counterfoil/kernel';
import { z } from 'zod';
import { type Definition, definitionDigest } from '../roll-ups/definition.ts';

const filter = z.object({ key: z.string(), values: z.array(z.string()).readonly() });

const definition = z.object({
  event_name: z.string(),
  field: z.string().nullable(),
  expression: z.string().nullable(),
  filters: z.array(filter).readonly(),
  /** The property by whose values sums are told apart. */
  group_by: z.string(),
});

const events = {
  /** A question was about many events: sums by the values of a property are kept from here on. */
  UsageGroupingKept: definition,
  /** The property has so many values that sums by them would be no less than the events. It stays so. */
  UsageGroupingLeftOut: definition,
} as const;
export type UsageGroupingEvent = EventOf<typeof events>;
export type KeptDefinition = z.output<typeof definition>;

/** The definitions that are kept, and those that never are, by their digests. */
export interface UsageGroupingState {
  readonly kept: readonly string[];
  readonly leftOut: readonly string[];
}

/** Groupings of one event name that are kept: each costs something with every event. */
export const groupingsMaximum = 8;
/** Those that are known to be of no use; beyond, it is found out anew. */
const leftOutMaximum = 64;

/** Sums of the events of a name that are kept for questions, in a stream that is named by the hash of the name. */
export const usageGrouping = aggregate({
  name: 'usage_grouping',
  scope: 'environment',
  events,
  initial: { kept: [], leftOut: [] } as UsageGroupingState,
  evolve: ({ kept, leftOut }, { type, data }): UsageGroupingState => {
    const digest = definitionDigest(definitionIn(data));
    switch (type) {
      case 'UsageGroupingKept':
        return { kept: [...kept, digest], leftOut };
      case 'UsageGroupingLeftOut':
        return { kept: kept.filter((one) => one !== digest), leftOut: [...leftOut, digest] };
      default:
        return type satisfies never;
    }
  },
});

/** The definition that an event is about. */
export const definitionIn = (data: KeptDefinition): Definition => ({
  ...data,
  keeps: 'groups',
  unit: null,
});

type Command = Decision<UsageGroupingState, UsageGroupingEvent>;

/** True where nothing is to be decided any more: it is kept or left out, or there is no room for it. */
export function isSettled({ kept, leftOut }: UsageGroupingState, data: KeptDefinition): boolean {
  const digest = definitionDigest(definitionIn(data));
  return kept.length >= groupingsMaximum || kept.includes(digest) || leftOut.includes(digest);
}

/** Keeps a grouping, where there is room for it and it was not left out. */
export const keepGrouping =
  (data: KeptDefinition): Command =>
  (state) =>
    isSettled(state, data) ? [] : [{ type: 'UsageGroupingKept', data }];

/** Keeps a grouping no more, and never again. */
export const leaveGroupingOut =
  (data: KeptDefinition): Command =>
  ({ leftOut }) => {
    const digest = definitionDigest(definitionIn(data));
    if (leftOut.includes(digest) || leftOut.length >= leftOutMaximum) return [];
    return [{ type: 'UsageGroupingLeftOut', data }];
  };
