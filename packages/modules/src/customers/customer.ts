import { recordProjection } from '@counterfoil/engine/define';
import {
  aggregate,
  type Changes,
  type CustomerId,
  changedFields,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  invariant,
  isEmpty,
  type Metadata,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
  withChanges,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Address, addressData, noAddress } from '../address.ts';
import { publishedRecord } from '../record/index.ts';
import {
  type BroughtAssociation,
  broughtAssociationData,
  type TaxExemption,
  taxExemptionSchema,
} from '../taxes/index.ts';
import {
  type Integration,
  integrationData,
  newIntegrations,
  withIntegrations,
} from './integrations.ts';
import {
  type CreateCustomer,
  type Customer,
  customerSchema,
  type IntegrationMapping,
  type UpdateCustomer,
} from './schema.ts';

const profileData = {
  name: z.string(),
  external_id: z.string(),
  email: z.string().nullable(),
  ...addressData,
  /** IANA name. Days and months of the customer are those of this zone. */
  timezone: z.string(),
  /** The customer whose child it is. */
  parent_customer_id: referenceSchema('cust').nullable(),
  /** The reason why invoices take no tax of the customer; null or absent: there is none. */
  tax_exemption: taxExemptionSchema.nullish(),
  metadata: z.record(z.string(), z.string()),
} as const;

const events = {
  CustomerCreated: z.object({
    id: referenceSchema('cust'),
    ...profileData,
    integrations: z.array(integrationData),
    /** Carried out by a reaction. */
    tax_associations: z.array(broughtAssociationData),
  }),
  /** Only what changed. A mapping replaces the one of the same provider. */
  CustomerUpdated: z.object({
    changes: z.object(profileData).partial(),
    integrations: z.array(integrationData),
    /** Providers whose mapping is removed. */
    unlinked: z.array(z.string()),
  }),
  CustomerArchived: z.object({}),
} as const;
export type CustomerEvent = EventOf<typeof events>;

interface Profile extends Address {
  readonly name: string;
  readonly external_id: string;
  readonly email: string | null;
  readonly timezone: string;
  readonly parent_customer_id: CustomerId | null;
  readonly tax_exemption?: TaxExemption | null | undefined;
  readonly metadata: Metadata;
}

export interface CustomerRecord extends Profile, RecordStamps {
  readonly id: CustomerId;
  readonly status: RecordStatus;
  readonly integrations: readonly Integration[];
}

/** Null until the customer is created. */
export type CustomerState = CustomerRecord | null;

export const customer = aggregate({
  name: 'customer',
  scope: 'environment',
  events,
  initial: null as CustomerState,
  evolve: (state, event): CustomerState => {
    const { stamp } = event;
    switch (event.type) {
      case 'CustomerCreated': {
        const { integrations, tax_associations: _, ...profile } = event.data;
        return {
          ...profile,
          status: 'published',
          ...createdStamps(stamp),
          integrations: withIntegrations([], integrations, stamp),
        };
      }
      case 'CustomerUpdated': {
        const { changes, integrations, unlinked } = event.data;
        const before = existing(state, 'customer');
        const kept = before.integrations.filter(
          ({ provider_type }) => !unlinked.includes(provider_type),
        );
        return {
          ...withChanges<CustomerRecord>(before, changes),
          ...updatedStamps(stamp),
          integrations: withIntegrations(kept, integrations, stamp),
        };
      }
      case 'CustomerArchived':
        return { ...existing(state, 'customer'), ...updatedStamps(stamp), status: 'archived' };
      default:
        return event satisfies never;
    }
  },
  isReferable: (state) => state?.status === 'published',
  refersTo: (state) =>
    state?.status === 'published' && state.parent_customer_id
      ? [{ category: 'customer', id: state.parent_customer_id, what: 'parent customer' }]
      : [],
  isRemoved: (state) => state !== null && state.status !== 'published',
  /** An archived customer gives its external_id back. */
  unique: (state) =>
    state?.status === 'published'
      ? [
          {
            name: 'external_id',
            value: state.external_id,
            problem: `Another customer has the external_id ${JSON.stringify(state.external_id)}.`,
          },
        ]
      : [],
});

const emptyProfile = { email: null, ...noAddress, metadata: {} } as const;

/** The parts of a new customer that do not stand in its request. */
interface NewCustomer {
  /** Of a customer that names none (D50). */
  readonly timeZone: string;
  readonly parent: CustomerId | null;
  readonly taxAssociations: readonly BroughtAssociation[];
}

/** Creates a customer. Fields that the request leaves out are absent, but for the time zone. */
export const createCustomer =
  (
    id: CustomerId,
    request: CreateCustomer,
    { timeZone, parent, taxAssociations }: NewCustomer,
  ): Decision<CustomerState, CustomerEvent> =>
  (state) => {
    invariant(state === null, `customer ${id} is created twice`);
    const { integration_entity_mapping, tax_rate_overrides: _, ...given } = request;
    const { name, external_id, parent_customer_id, parent_customer_external_id, ...optional } =
      given;
    const empty = { ...emptyProfile, timezone: timeZone, parent_customer_id: parent };
    const profile = withChanges<Omit<Profile, 'name' | 'external_id'>>(empty, optional);
    const integrations = newIntegrations(id, [], integration_entity_mapping);
    const tax_associations = [...taxAssociations];
    const data = { id, name, external_id, ...profile, integrations, tax_associations };
    return [{ type: 'CustomerCreated', data }];
  };

/**
 * Changes the fields that are given and differ; when none does, nothing happens (D18).
 *
 * @param parent the customer whose child it becomes; null: of none; absent: it stays as it is
 */
export const updateCustomer =
  (
    id: CustomerId,
    request: UpdateCustomer,
    parent?: CustomerId | null,
  ): Decision<CustomerState, CustomerEvent> =>
  (state) => {
    const current = writable(state, 'customer', id);
    const {
      integration_entity_mapping,
      parent_customer_id,
      parent_customer_external_id,
      ...given
    } = request;
    const fields = { ...given, parent_customer_id: parent };
    const changes: Changes<Profile> = changedFields<Profile>(current, fields);
    const integrations = newIntegrations(id, current.integrations, integration_entity_mapping);
    if (isEmpty(changes) && integrations.length === 0) return [];
    return [{ type: 'CustomerUpdated', data: { changes, integrations, unlinked: [] } }];
  };

/** Links a customer to a provider, as an update with this one mapping does. */
export const linkCustomer = (
  id: CustomerId,
  mapping: IntegrationMapping,
): Decision<CustomerState, CustomerEvent> =>
  updateCustomer(id, {
    integration_entity_mapping: [mapping],
    metadata: undefined,
    timezone: undefined,
  });

/** Removes the mapping of a customer to a provider; when there is none, nothing happens. */
export const unlinkCustomer =
  (id: CustomerId, provider: string): Decision<CustomerState, CustomerEvent> =>
  (state) => {
    const { integrations } = writable(state, 'customer', id);
    if (!integrations.some(({ provider_type }) => provider_type === provider)) return [];
    const unlinked = [provider];
    return [{ type: 'CustomerUpdated', data: { changes: {}, integrations: [], unlinked } }];
  };

/** Takes a customer out of use, for good. One that is archived already stays as it is. */
export const archiveCustomer =
  (id: CustomerId): Decision<CustomerState, CustomerEvent> =>
  (state) => {
    if (state?.status === 'archived') return [];
    writable(state, 'customer', id);
    return [{ type: 'CustomerArchived', data: {} }];
  };

/** The customer as the API shows it. */
export const customerView = (state: CustomerState): Customer => {
  const { integrations, ...record } = existing(state, 'customer');
  return { ...withoutNulls(record), integrations: [...integrations] };
};

const life = {
  created: {
    event: 'CustomerCreated',
    publishes: 'customer.created',
    when: 'A customer is created',
  },
  updated: {
    event: 'CustomerUpdated',
    publishes: 'customer.updated',
    when: 'Data of a customer change',
  },
  archived: {
    event: 'CustomerArchived',
    publishes: 'customer.deleted',
    when: 'A customer is archived',
  },
} as const;

const kind = { name: 'customer', called: 'customer', schema: customerSchema } as const;

/** Customers as their routes, their table and those who receive messages need them. */
export const customerRecords = {
  ...kind,
  prefix: 'cust',
  aggregate: customer,
  view: customerView,
  unique: { field: 'external_id' },
  table: recordProjection(customer, {
    name: 'customers',
    version: 3,
    view: customerView,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      email: { type: 'text', of: ({ email }) => email, index: true },
      external_id: { type: 'text', of: ({ external_id }) => external_id, index: true },
      parent_customer_id: {
        type: 'text',
        of: ({ parent_customer_id }) => parent_customer_id,
        index: true,
      },
    },
  }),
  publicEvents: publishedRecord(customer, { ...kind, life }, customerView),
} as const;
