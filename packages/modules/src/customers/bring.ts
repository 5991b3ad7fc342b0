import type { RequestContext } from '@counterfoil/engine/define';
import { type CustomerId, existing, Problem } from '@counterfoil/kernel';
import { broughtAssociations } from '../taxes/index.ts';
import { defaultTimeZone } from '../tenancy/index.ts';
import { createCustomer, customer, updateCustomer } from './customer.ts';
import { parentOf } from './parents.ts';
import { taxesOfCustomer } from './reactions.ts';
import { customerWith } from './reference.ts';
import type { CreateCustomer } from './schema.ts';

/** The fate of a record that somebody brings: a new one, one that is there as it is brought, or one that was changed. */
export type Brought = 'created' | 'unchanged' | 'updated';

/** Looks up what a new customer needs, and decides on it. */
export const creationOf = (context: RequestContext, id: CustomerId, body: CreateCustomer) => ({
  prepare: async () =>
    createCustomer(id, body, {
      timeZone: await defaultTimeZone(context),
      parent: (await parentOf(context, id, body)) ?? null,
      taxAssociations: await broughtAssociations(context, body.tax_rate_overrides ?? []),
    }),
});

/**
 * Creates a customer, unless one has the external_id already: an update with what is brought is held against that one. Where it
 * would change nothing the customer is there as it is brought; else it is changed if it may be, and refused with 409 if not.
 * `tax_rate_overrides` are for new customers alone.
 */
export async function bringCustomer(
  context: RequestContext,
  body: CreateCustomer,
  mayUpdate: boolean,
): Promise<Brought> {
  const id = context.newId('cust');
  try {
    const outcome = await context.execute(customer, id, creationOf(context, id, body));
    await context.carryOut(taxesOfCustomer, id, outcome);
    return 'created';
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'already_exists') throw error;
    const holder = await customerWith(context, body.external_id);
    if (holder === null) throw error;
    return broughtTo(context, holder, body, mayUpdate);
  }
}

async function broughtTo(
  context: RequestContext,
  id: CustomerId,
  { tax_rate_overrides: _, ...body }: CreateCustomer,
  mayUpdate: boolean,
): Promise<Brought> {
  const prepare = async () => updateCustomer(id, body, await parentOf(context, id, body));
  if (mayUpdate) {
    const { events } = await context.execute(customer, id, { prepare });
    return events.length > 0 ? 'updated' : 'unchanged';
  }
  const decide = await prepare();
  const state = existing(await context.load(customer, id), 'customer');
  const [change] = decide(state, context.now);
  if (!change) return 'unchanged';
  throw new Problem(
    'already_exists',
    `The customer ${id} has the external_id ${JSON.stringify(body.external_id)}, with other contents${namesIn(change.data)}.`,
  );
}

/** The names of the fields in which a change consists, for people. */
function namesIn(data: object): string {
  const { changes = {}, integrations = [] } = data as {
    readonly changes?: object;
    readonly integrations?: readonly unknown[];
  };
  const names = [...Object.keys(changes), ...(integrations.length > 0 ? ['integrations'] : [])];
  return names.length > 0 ? ` (${names.join(', ')})` : '';
}
