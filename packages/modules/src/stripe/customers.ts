import { existing } from '@counterfoil/kernel';
import type Stripe from 'stripe';
import { customer, linkCustomer } from '../customers/index.ts';
import type { ProviderContext } from '../payments/index.ts';
import { keyed } from './keys.ts';

export const providerName = 'stripe';

/** The id of a customer at Stripe; null where it has none yet. */
export async function linkedCustomer(
  context: Pick<ProviderContext, 'load'>,
  id: string,
): Promise<string | null> {
  const state = await context.load(customer, id);
  const linked = state?.integrations.find(({ provider_type }) => provider_type === providerName);
  return linked?.provider_entity_id ?? null;
}

/**
 * The id of a customer at Stripe, who is made known there first where that is not so. Two who do so at once have one, by the
 * key; one that a lost answer leaves behind has neither methods nor payments.
 */
export async function ensuredCustomer(
  stripe: Stripe,
  context: Pick<ProviderContext, 'load' | 'execute' | 'principal'>,
  id: string,
): Promise<string> {
  const known = await linkedCustomer(context, id);
  if (known !== null) return known;
  const { name, email } = existing(await context.load(customer, id), 'customer');
  const params: Stripe.CustomerCreateParams = {
    name,
    ...(email ? { email } : {}),
    metadata: {
      counterfoil_customer: id,
      counterfoil_environment: context.principal.environmentId,
    },
  };
  const made = await stripe.customers.create(params, keyed(`counterfoil-customer-${id}`, params));
  const mapping = { provider_type: providerName, provider_entity_id: made.id };
  const { state } = await context.execute(customer, id, linkOnce(mapping));
  const linked = state?.integrations.find(({ provider_type }) => provider_type === providerName);
  return linked?.provider_entity_id ?? made.id;
}

/** Links the customer unless somebody has meanwhile: the first link stays. One who is archived is not changed any more. */
const linkOnce =
  (mapping: Parameters<typeof linkCustomer>[1]): ReturnType<typeof linkCustomer> =>
  (state, at) =>
    state?.status !== 'published' ||
    state.integrations.some(({ provider_type }) => provider_type === providerName)
      ? []
      : linkCustomer(existing(state, 'customer').id, mapping)(state, at);
