import {
  aggregate,
  type Decision,
  type EnvironmentId,
  type EventOf,
  invariant,
  type RecordStatus,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { createdTenantStamps, type TenantStamps } from './stamps.ts';

export const environmentTypeSchema = z.enum(['development', 'production']);
export type EnvironmentType = z.output<typeof environmentTypeSchema>;

const events = {
  EnvironmentCreated: z.object({
    id: referenceSchema('env'),
    name: z.string(),
    type: environmentTypeSchema,
  }),
} as const;
export type EnvironmentEvent = EventOf<typeof events>;

export interface EnvironmentRecord extends TenantStamps {
  readonly id: EnvironmentId;
  readonly status: RecordStatus;
  readonly name: string;
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
  evolve: (_, event): EnvironmentState => {
    switch (event.type) {
      case 'EnvironmentCreated':
        return { ...event.data, status: 'published', ...createdTenantStamps(event.stamp) };
      default:
        return event.type satisfies never;
    }
  },
});

/** Creates an environment. Its type never changes. */
export const createEnvironment =
  (
    id: EnvironmentId,
    name: string,
    type: EnvironmentType,
  ): Decision<EnvironmentState, EnvironmentEvent> =>
  (state) => {
    invariant(state === null, `environment ${id} is created twice`);
    return [{ type: 'EnvironmentCreated', data: { id, name, type } }];
  };
