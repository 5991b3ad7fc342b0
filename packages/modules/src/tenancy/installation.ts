import {
  aggregate,
  type Decision,
  type EventOf,
  existing,
  invalidOperation,
  type TenantId,
} from '@counterfoil/kernel';
import { z } from 'zod';

const events = {
  InstallationBegun: z.object({
    /** Random: the ids of the demo tenants follow from it. */
    seed: z.string(),
    /** Tells the server's secret from another one, and nothing about it. */
    secret_id: z.string(),
  }),
} as const;
type InstallationEvent = EventOf<typeof events>;

/** The mark that `counterfoil up` leaves in the log that it begins. Null until then. */
type InstallationState = { readonly seed: string; readonly secret_id: string } | null;

/** There is one in a log, in the place of no tenant. */
export const installationId = 'installation';
export const installationPlace = 'tenant_installation' as TenantId;

/** The installation that a log belongs to. */
export const installation = aggregate({
  name: 'installation',
  scope: 'tenant',
  events,
  initial: null as InstallationState,
  evolve: (_, event): InstallationState => event.data,
});

/** Begins the installation, or continues the one that was begun under the same secret. */
export const beginInstallation =
  (begun: {
    readonly seed: string;
    readonly secret_id: string;
  }): Decision<InstallationState, InstallationEvent> =>
  (state) => {
    if (state === null) return [{ type: 'InstallationBegun', data: begun }];
    if (state.secret_id === begun.secret_id) return [];
    throw invalidOperation(
      'This log was begun by an installation with another secret key: use its data folder, set ' +
        'COUNTERFOIL_SECRET_KEY to its key, or name another EVENTSTORE_URL.',
      { reason: 'other_installation' },
    );
  };

/** The seed of the demo tenants. */
export const seedOf = (state: InstallationState): string => existing(state, 'installation').seed;
