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
  /** The environment takes money with this account from now on. */
  StripeAccountSet: z.object({
    secret_key: sealedSchema,
    /** Null: webhooks are not taken, and what becomes of payments is only asked for. */
    webhook_secret: sealedSchema.nullable(),
    /** The mode and the last characters of the key, by which people know it again. */
    key_hint: z.string(),
  }),
  /** The environment takes no money by Stripe any more. */
  StripeAccountRemoved: z.object({}),
} as const;

export type StripeAccountEvent = EventOf<typeof accountEvents>;
type SetData = Extract<StripeAccountEvent, { readonly type: 'StripeAccountSet' }>['data'];

/** The account of an environment at Stripe. */
export interface StripeAccount extends RecordStamps {
  /** Null where it was removed. */
  readonly credentials: SetData | null;
}
/** Null before there ever was one. */
export type StripeAccountState = StripeAccount | null;

/** The accounts of environments at Stripe, each in a stream of its own, under one id. */
export const stripeAccount = aggregate({
  name: 'stripe_account',
  scope: 'environment',
  events: accountEvents,
  initial: null as StripeAccountState,
  evolve: (state, event): StripeAccountState => {
    const { stamp } = event;
    const before = { ...(state ?? createdStamps(stamp)), ...updatedStamps(stamp) };
    switch (event.type) {
      case 'StripeAccountSet':
        return { ...before, credentials: event.data };
      case 'StripeAccountRemoved':
        return { ...before, credentials: null };
      default:
        return event satisfies never;
    }
  },
});

/** The id under which the account of an environment is kept. */
export const accountId = 'stripe';

/** The purposes that the secrets of an account are sealed for: in another environment, and for each other, they do not open. */
export const sealingContext = (environmentId: string, what: 'secret_key' | 'webhook_secret') =>
  `stripe account ${environmentId} ${what}`;

type AccountDecision = Decision<StripeAccountState, StripeAccountEvent>;

/** Sets the credentials. They are sealed, so nobody can tell whether they are the same as before: an event each time. */
export const setAccount =
  (data: SetData): AccountDecision =>
  () => [{ type: 'StripeAccountSet', data }];

/** Takes the credentials away. Without any, no event. */
export const removeAccount = (): AccountDecision => (state) =>
  state?.credentials ? [{ type: 'StripeAccountRemoved', data: {} }] : [];
