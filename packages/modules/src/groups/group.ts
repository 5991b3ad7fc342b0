import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  type GroupId,
  invariant,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type CreateGroup, type Group, groupEntitySchema } from './schema.ts';

const groupData = z.object({
  id: referenceSchema('group'),
  name: z.string(),
  lookup_key: z.string(),
  entity_type: groupEntitySchema,
  metadata: z.record(z.string(), z.string()),
});

const events = { GroupCreated: groupData, GroupArchived: z.object({}) } as const;
export type GroupEvent = EventOf<typeof events>;

export interface GroupRecord extends z.output<typeof groupData>, RecordStamps {
  readonly status: RecordStatus;
}

/** Null until the group is created. */
export type GroupState = GroupRecord | null;

/**
 * A group. Membership is written at the members, so that a group can grow without a limit of its
 * own.
 */
export const group = aggregate({
  name: 'group',
  scope: 'environment',
  events,
  initial: null as GroupState,
  evolve: (state, event): GroupState => {
    const { stamp } = event;
    switch (event.type) {
      case 'GroupCreated':
        return { ...event.data, status: 'published', ...createdStamps(stamp) };
      case 'GroupArchived':
        return { ...existing(state, 'group'), ...updatedStamps(stamp), status: 'archived' };
      default:
        return event satisfies never;
    }
  },
  isReferable: (state) => state?.status === 'published',
  isRemoved: (state) => state !== null && state.status !== 'published',
  /** An archived group gives its lookup_key back. */
  unique: (state) =>
    state?.status === 'published'
      ? [
          {
            name: 'lookup_key',
            value: state.lookup_key,
            problem: `Another group has the lookup_key ${JSON.stringify(state.lookup_key)}.`,
          },
        ]
      : [],
});

/** Creates a group without members. */
export const createGroup =
  (id: GroupId, request: CreateGroup): Decision<GroupState, GroupEvent> =>
  (state) => {
    invariant(state === null, `group ${id} is created twice`);
    return [{ type: 'GroupCreated', data: { id, ...request } }];
  };

/** Takes a group out of use, for good. One that is archived already stays as it is. */
export const archiveGroup =
  (id: GroupId): Decision<GroupState, GroupEvent> =>
  (state) => {
    if (state?.status === 'archived') return [];
    writable(state, 'group', id);
    return [{ type: 'GroupArchived', data: {} }];
  };

/** The group as the API shows it, without its members: those are not its own. */
export const groupView = (state: GroupState): Group => ({ ...existing(state, 'group') });
