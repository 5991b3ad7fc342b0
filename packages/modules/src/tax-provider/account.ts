import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  type RecordStamps,
  updatedStamps,
} from '@counterfoil/kernel';
import { sealedSchema } from '@counterfoil/webhooks';
import { z } from 'zod';

const accountEvents = {
  /** The environment asks this address for the taxes of its invoices from now on, where it is on. */
  TaxProviderSet: z.object({ url: z.string(), secret: sealedSchema, is_on: z.boolean() }),
  /** The taxes of its invoices follow from its own rates again. */
  TaxProviderRemoved: z.object({}),
} as const;

export type TaxProviderEvent = EventOf<typeof accountEvents>;
export type TaxProviderAddress = Extract<
  TaxProviderEvent,
  { readonly type: 'TaxProviderSet' }
>['data'];

/** The tax provider of an environment. */
interface TaxProviderAccount extends RecordStamps {
  /** Null where it was removed. */
  readonly address: TaxProviderAddress | null;
}
/** Null before there ever was one. */
export type TaxProviderState = TaxProviderAccount | null;

/** The tax providers of environments, each in a stream of its own, under one id. */
export const taxProvider = aggregate({
  name: 'tax_provider',
  scope: 'environment',
  events: accountEvents,
  initial: null as TaxProviderState,
  evolve: (state, event): TaxProviderState => {
    const { stamp } = event;
    const before = { ...(state ?? createdStamps(stamp)), ...updatedStamps(stamp) };
    switch (event.type) {
      case 'TaxProviderSet':
        return { ...before, address: event.data };
      case 'TaxProviderRemoved':
        return { ...before, address: null };
      default:
        return event satisfies never;
    }
  },
});

/** The id under which the tax provider of an environment is kept. */
export const taxProviderId = 'http';

/** The purpose that the secret is sealed for: in another environment it does not open. */
export const sealingContext = (environmentId: string): string =>
  `tax provider ${environmentId} secret`;

type TaxProviderDecision = Decision<TaxProviderState, TaxProviderEvent>;

/** Sets the address. The secret is sealed, so nobody can tell whether it is the same as before: an event each time. */
export const setTaxProvider =
  (data: TaxProviderAddress): TaxProviderDecision =>
  () => [{ type: 'TaxProviderSet', data }];

/** Takes the address away. Without any, no event. */
export const removeTaxProvider = (): TaxProviderDecision => (state) =>
  state?.address ? [{ type: 'TaxProviderRemoved', data: {} }] : [];
