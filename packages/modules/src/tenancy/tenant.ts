import {
  aggregate,
  changedFields,
  type Decision,
  type EventOf,
  existing,
  invariant,
  isEmpty,
  type Metadata,
  type RecordStatus,
  referenceSchema,
  type TenantId,
  updatedStamps,
  withChanges,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Address, addressData, noAddress } from '../address.ts';
import type { Tenant, UpdateTenant } from './schema.ts';
import { createdTenantStamps, type TenantStamps } from './stamps.ts';

const profileData = { name: z.string(), metadata: z.record(z.string(), z.string()) } as const;

const billingData = {
  email: z.string().nullable(),
  help_email: z.string().nullable(),
  phone: z.string().nullable(),
  ...addressData,
} as const;

const events = {
  TenantCreated: z.object({
    id: referenceSchema('tenant'),
    ...profileData,
    billing_details: z.object(billingData),
  }),
  /** Only what changed. */
  TenantUpdated: z.object({
    changes: z.object(profileData).partial(),
    billing_details: z.object(billingData).partial(),
  }),
} as const;
export type TenantEvent = EventOf<typeof events>;

interface Profile {
  readonly name: string;
  readonly metadata: Metadata;
}

/** The people to write to about the tenant's own bill, and their address. */
interface BillingDetails extends Address {
  readonly email: string | null;
  readonly help_email: string | null;
  readonly phone: string | null;
}

export interface TenantRecord extends Profile, TenantStamps {
  readonly id: TenantId;
  readonly status: RecordStatus;
  readonly billing_details: BillingDetails;
}

/** Null until the tenant is created. */
export type TenantState = TenantRecord | null;

export const tenant = aggregate({
  name: 'tenant',
  scope: 'tenant',
  events,
  initial: null as TenantState,
  evolve: (state, event): TenantState => {
    switch (event.type) {
      case 'TenantCreated':
        return { ...event.data, status: 'published', ...createdTenantStamps(event.stamp) };
      case 'TenantUpdated': {
        const before = existing(state, 'tenant');
        return {
          ...withChanges<TenantRecord>(before, event.data.changes),
          billing_details: withChanges(before.billing_details, event.data.billing_details),
          ...updatedStamps(event.stamp),
        };
      }
      default:
        return event satisfies never;
    }
  },
});

const noBillingDetails: BillingDetails = {
  email: null,
  help_email: null,
  phone: null,
  ...noAddress,
};

/** Creates a tenant with nothing but a name. */
export const createTenant =
  (id: TenantId, name: string): Decision<TenantState, TenantEvent> =>
  (state) => {
    invariant(state === null, `tenant ${id} is created twice`);
    const data = { id, name, metadata: {}, billing_details: noBillingDetails };
    return [{ type: 'TenantCreated', data }];
  };

/** Changes the fields that are given and differ, those of the billing details one by one. */
export const updateTenant =
  (id: TenantId, request: UpdateTenant): Decision<TenantState, TenantEvent> =>
  (state) => {
    const current = writable(state, 'tenant', id);
    const { billing_details, ...profile } = request;
    const { address, ...contact } = billing_details ?? {};
    const changes = changedFields<Profile>(current, profile);
    const billing = changedFields(current.billing_details, { ...contact, ...address });
    if (isEmpty(changes) && isEmpty(billing)) return [];
    return [{ type: 'TenantUpdated', data: { changes, billing_details: billing } }];
  };

/** The tenant as the API shows it. */
export const tenantView = (state: TenantState): Tenant => {
  const { id, name, status, metadata, billing_details, created_at, updated_at } = existing(
    state,
    'tenant',
  );
  const { email, help_email, phone, ...address } = billing_details;
  return {
    id,
    name,
    status,
    metadata,
    billing_details: {
      ...withoutNulls({ email, help_email, phone }),
      address: withoutNulls(address),
    },
    created_at,
    updated_at,
  };
};
