import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';

const secretKey = /^(sk|rk)_(test|live)_[A-Za-z0-9_]{8,200}$/;
const webhookSecret = /^whsec_[A-Za-z0-9+/=_]{8,200}$/;

/** Body of PUT /payments/providers/stripe. */
export const setStripeAccountSchema = z
  .object({
    secret_key: z
      .string()
      .regex(secretKey, 'must be a secret or restricted key of Stripe, such as sk_live_…')
      .meta({
        description: 'Secret or restricted key of the Stripe account; it is never shown again',
      }),
    webhook_secret: z
      .string()
      .regex(webhookSecret, 'must be the signing secret of a webhook endpoint, such as whsec_…')
      .nullish()
      .meta({
        description: 'Signing secret of the endpoint at Stripe; without it webhooks are refused',
      }),
  })
  .meta({ id: 'SetStripeAccount' });

/** The account of the environment at Stripe on the wire, without its secrets. */
export const stripeAccountSchema = z
  .object({
    provider: z.literal('stripe').meta({ description: 'Name of the payment provider' }),
    is_set: z.boolean().meta({ description: 'Whether the environment has credentials' }),
    is_on: z
      .boolean()
      .meta({ description: 'Whether the installation takes money by Stripe at all' }),
    key_hint: z.string().nullable().meta({ description: 'Mode and last characters of the key' }),
    has_webhook_secret: z.boolean().meta({ description: 'Whether webhooks of Stripe are taken' }),
    webhook_path: z.string().meta({ description: 'The path that Stripe is to send webhooks to' }),
    updated_at: instantSchema.nullable(),
  })
  .meta({ id: 'StripeAccount' });
