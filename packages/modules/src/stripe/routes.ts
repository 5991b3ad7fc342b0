import { type RequestContext, type Routes, route } from '@counterfoil/engine/define';
import { invalidField } from '@counterfoil/kernel';
import type { z } from 'zod';
import { refuseUnlessAdmin } from '../tenancy/index.ts';
import {
  accountId,
  removeAccount,
  type StripeAccountState,
  sealingContext,
  setAccount,
  stripeAccount,
} from './account.ts';
import { clientOf, type StripeOptions } from './client.ts';
import { isUnauthorised } from './errors.ts';
import { setStripeAccountSchema, stripeAccountSchema } from './schema.ts';

const tag = 'Payments';

/** The parts that the routes need from outside. */
export interface StripeRoutesOptions extends StripeOptions {
  /** False where the installation takes no money by Stripe: credentials are kept, and not tried. */
  readonly isOn: boolean;
}

const hintCharacters = 4;

/** The mode of a key, and its end: `sk_test_…a1b2`. */
const hintOf = (key: string): string =>
  `${key.slice(0, 'sk_test_'.length)}…${key.slice(-hintCharacters)}`;

/** The account of the environment at Stripe, by which it takes money. */
export const stripeRoutes = (options: StripeRoutesOptions) =>
  ({
    'GET /payments/providers/stripe': route({
      operationId: 'getStripeAccount',
      summary: 'Get the account of the environment at Stripe',
      description: 'Without its secrets.',
      tag,
      status: 200,
      permission: 'payment:read',
      response: stripeAccountSchema,
      handle: async (context) =>
        shown(context, options, await context.load(stripeAccount, accountId)),
    }),

    'PUT /payments/providers/stripe': route({
      operationId: 'setStripeAccount',
      summary: 'Set the account by which the environment takes money at Stripe',
      description:
        'For a super_admin. The secrets are sealed in the log, and opened only to ask Stripe. Cards, bank accounts and payment pages can be used from then on, where the operator has switched Stripe on.',
      tag,
      status: 200,
      permission: 'payment:write',
      body: setStripeAccountSchema,
      response: stripeAccountSchema,
      example: { body: { secret_key: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc', webhook_secret: null } },
      handle: async (context, { body: { secret_key, webhook_secret } }) => {
        refuseUnlessAdmin(context, 'set the account at Stripe');
        await assertTaken(secret_key, options);
        const { environmentId } = context.principal;
        const seal = (text: string, what: 'secret_key' | 'webhook_secret') =>
          options.sealer.seal(text, sealingContext(environmentId, what));
        const { state } = await context.execute(stripeAccount, accountId, {
          prepare: () =>
            setAccount({
              secret_key: seal(secret_key, 'secret_key'),
              webhook_secret:
                webhook_secret == null ? null : seal(webhook_secret, 'webhook_secret'),
              key_hint: hintOf(secret_key),
            }),
        });
        return shown(context, options, state);
      },
    }),

    'DELETE /payments/providers/stripe': route({
      operationId: 'removeStripeAccount',
      summary: 'Take the account of the environment at Stripe away',
      description:
        'For a super_admin. Nothing new is sent to Stripe from then on. What is under way there is asked for again when an account is set.',
      tag,
      status: 200,
      permission: 'payment:write',
      response: stripeAccountSchema,
      handle: async (context) => {
        refuseUnlessAdmin(context, 'take the account at Stripe away');
        const { state } = await context.execute(stripeAccount, accountId, removeAccount());
        return shown(context, options, state);
      },
    }),
  }) satisfies Routes;

/** Throws 400 for a key that Stripe does not know. Where Stripe does not answer, the key is taken as it is. */
async function assertTaken(key: string, options: StripeRoutesOptions): Promise<void> {
  if (!options.isOn) return;
  const stripe = await clientOf(key, options);
  await stripe.customers.list({ limit: 1 }).catch((error: unknown) => {
    if (isUnauthorised(error)) {
      throw invalidField(
        '/secret_key',
        'must be a key of Stripe that may read and write customers',
      );
    }
  });
}

const shown = (
  { principal: { tenantId, environmentId } }: RequestContext,
  { isOn }: StripeRoutesOptions,
  state: StripeAccountState,
): z.output<typeof stripeAccountSchema> => ({
  provider: 'stripe',
  is_set: state?.credentials != null,
  is_on: isOn,
  key_hint: state?.credentials?.key_hint ?? null,
  has_webhook_secret: state?.credentials?.webhook_secret != null,
  webhook_path: `/v1/webhooks/stripe/${tenantId}/${environmentId}`,
  updated_at: state?.updated_at ?? null,
});
