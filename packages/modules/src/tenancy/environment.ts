import {
  aggregate,
  type Changes,
  changedFields,
  type Decision,
  type EnvironmentId,
  type EventOf,
  existing,
  invariant,
  isEmpty,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
  withChanges,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Environment, type EnvironmentType, environmentTypeSchema } from './schema.ts';
import { createdTenantStamps, type TenantStamps } from './stamps.ts';

const changeableData = { name: z.string(), timezone: z.string().nullable() } as const;

const events = {
  EnvironmentCreated: z.object({
    id: referenceSchema('env'),
    type: environmentTypeSchema,
    ...changeableData,
  }),
  /** Only what changed. */
  EnvironmentUpdated: z.object({ changes: z.object(changeableData).partial() }),
  /** Its catalogue is to be copied to another one. The request is known by it, whatever its target. */
  EnvironmentCloneRequested: z.object({ target_id: referenceSchema('env') }),
} as const;
export type EnvironmentEvent = EventOf<typeof events>;

interface Changeable {
  readonly name: string;
  /** The IANA zone of customers that name none; null means UTC (D50). */
  readonly timezone: string | null;
}

export interface EnvironmentRecord extends Changeable, TenantStamps {
  readonly id: EnvironmentId;
  readonly status: RecordStatus;
  readonly type: EnvironmentType;
}

/** Null until the environment is created. */
export type EnvironmentState = EnvironmentRecord | null;

/** A world of its own inside a tenant: its records, keys and events are seen by no other. */
export const environment = aggregate({
  name: 'environment',
  scope: 'tenant',
  events,
  initial: null as EnvironmentState,
  evolve: (state, event): EnvironmentState => {
    switch (event.type) {
      case 'EnvironmentCreated':
        return { ...event.data, status: 'published', ...createdTenantStamps(event.stamp) };
      case 'EnvironmentUpdated': {
        const before = existing(state, 'environment');
        return {
          ...withChanges<EnvironmentRecord>(before, event.data.changes),
          ...updatedStamps(event.stamp),
        };
      }
      case 'EnvironmentCloneRequested':
        return state;
      default:
        return event satisfies never;
    }
  },
});

/** Creates an environment. Its type never changes. */
export const createEnvironment =
  (
    id: EnvironmentId,
    {
      name,
      type,
      timezone = null,
    }: {
      readonly name: string;
      readonly type: EnvironmentType;
      readonly timezone?: string | null | undefined;
    },
  ): Decision<EnvironmentState, EnvironmentEvent> =>
  (state) => {
    invariant(state === null, `environment ${id} is created twice`);
    return [{ type: 'EnvironmentCreated', data: { id, name, type, timezone } }];
  };

/** Renames an environment or changes its time zone. */
export const updateEnvironment =
  (id: EnvironmentId, request: Changes<Changeable>): Decision<EnvironmentState, EnvironmentEvent> =>
  (state) => {
    const changes = changedFields<Changeable>(writable(state, 'environment', id), request);
    return isEmpty(changes) ? [] : [{ type: 'EnvironmentUpdated', data: { changes } }];
  };

/** Records that the catalogue of an environment is to be copied to another one. */
export const requestClone =
  (id: EnvironmentId, target_id: EnvironmentId): Decision<EnvironmentState, EnvironmentEvent> =>
  (state) => {
    writable(state, 'environment', id);
    return [{ type: 'EnvironmentCloneRequested', data: { target_id } }];
  };

/** The environment as the API shows it. */
export const environmentView = (state: EnvironmentState): Environment =>
  withoutNulls(existing(state, 'environment'));
