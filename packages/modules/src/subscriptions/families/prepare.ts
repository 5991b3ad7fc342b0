import type { RequestContext } from '@counterfoil/engine/define';
import {
  type CustomerId,
  invalidField,
  notFound,
  type SubscriptionId,
  writable,
} from '@counterfoil/kernel';
import { customerReference } from '../../customers/index.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { assertInvoicedTogether, type HeirsOrder } from './decisions.ts';
import { type FamilyData, inheritedId, noFamily } from './family.ts';
import type { Inheritance, InheritanceParams } from './schema.ts';

/** The terms of a new subscription that decide what it can be invoiced with. */
type Ordered = Omit<Parameters<typeof assertInvoicedTogether>[0], 'id'> & {
  readonly id: SubscriptionId;
  readonly customer_id: CustomerId;
};

/** The family of a new subscription, after everything that the request refers to was found in the log. Throws a Problem. */
export async function familyOf(
  context: RequestContext,
  ordered: Ordered,
  asked: Inheritance | null | undefined,
): Promise<FamilyData> {
  if (!asked) return noFamily;
  const heirs = await customersNamed(
    context,
    asked.external_customer_ids_to_inherit_subscription,
    '/inheritance/external_customer_ids_to_inherit_subscription',
  );
  for (const { customer_id, pointer } of heirs) {
    if (customer_id !== ordered.customer_id) continue;
    throw invalidField(pointer, 'has the subscription itself');
  }
  const grouped = await membersNamed(context, ordered, asked);
  const parentId = asked.parent_subscription_id;
  if (parentId && (heirs.length > 0 || grouped.length > 0)) {
    throw invalidField('/inheritance/parent_subscription_id', 'does not go with others of its own');
  }
  return {
    invoicing_customer_id: await payerNamed(context, asked.invoicing_customer_external_id),
    parent: parentId ? await parentNamed(context, ordered, parentId) : null,
    heirs: heirs.map(({ customer_id }) => ({
      subscription_id: inheritedId(ordered.id, customer_id),
      customer_id,
    })),
    grouped,
  };
}

/** Customers by their external ids, each once. */
async function customersNamed(
  context: RequestContext,
  ids: readonly string[] | null | undefined,
  pointer: string,
): Promise<HeirsOrder['added']> {
  const found: HeirsOrder['added'][number][] = [];
  for (const [index, id] of (ids ?? []).entries()) {
    const place = `${pointer}/${index}`;
    const reference = { external_customer_id: id };
    const field = place.slice(1).replaceAll('/', '.');
    const record = await customerReference(context, reference, { id: field, externalId: field });
    const { id: customer_id } = writable(record, 'customer', record.id);
    if (found.some((each) => each.customer_id === customer_id)) {
      throw invalidField(place, 'is there twice');
    }
    found.push({ customer_id, pointer: place });
  }
  return found;
}

async function payerNamed(
  context: RequestContext,
  externalId: string | null | undefined,
): Promise<CustomerId | null> {
  if (!externalId) return null;
  const field = 'inheritance.invoicing_customer_external_id';
  const record = await customerReference(
    context,
    { external_customer_id: externalId },
    { id: field, externalId: field },
  );
  return writable(record, 'customer', record.id).id;
}

/** The subscription that a request names, from the log. Throws 404. */
export async function subscriptionNamed(
  context: RequestContext,
  id: string,
  field: string,
): Promise<Subscription> {
  const state = await context.load(subscription, id);
  if (!state || state.status === 'deleted') throw notFound('subscription', id, field);
  return state;
}

async function parentNamed(
  context: RequestContext,
  ordered: Ordered,
  id: string,
): Promise<FamilyData['parent']> {
  const parent = await subscriptionNamed(context, id, 'inheritance.parent_subscription_id');
  assertInvoicedTogether(ordered, parent);
  return { subscription_id: parent.id, relation: 'grouped_invoicing' };
}

async function membersNamed(
  context: RequestContext,
  ordered: Ordered,
  { subscriptions_ids_for_grouped_invoicing: ids }: Inheritance,
): Promise<FamilyData['grouped']> {
  const members: SubscriptionId[] = [];
  for (const [index, id] of (ids ?? []).entries()) {
    const field = `inheritance.subscriptions_ids_for_grouped_invoicing.${index}`;
    const member = await subscriptionNamed(context, id, field);
    const { currency, cycle, family, subscription_status: status } = member;
    const pointer = `/${field.replaceAll('.', '/')}`;
    if (status === 'cancelled' || status === 'draft') throw invalidField(pointer, `is ${status}`);
    if (family.parent !== null) throw invalidField(pointer, 'belongs to another one already');
    if (family.members.length > 0 || family.heirs.some(({ until }) => until === null)) {
      throw invalidField(pointer, 'is a parent itself');
    }
    const { unit, count } = ordered.rhythm;
    if (currency !== ordered.currency || cycle.unit !== unit || cycle.count !== count) {
      throw invalidField(pointer, 'has another currency or other periods');
    }
    if (members.includes(member.id)) throw invalidField(pointer, 'is there twice');
    members.push(member.id);
  }
  return members;
}

/** A change of those who inherit a subscription, after the customers were found. Throws a Problem. */
export async function heirsOrder(
  context: RequestContext,
  params: InheritanceParams,
): Promise<HeirsOrder> {
  const {
    action,
    external_customer_ids_to_inherit_subscription: adding,
    external_customer_ids_to_remove: removing,
  } = params;
  const pointer = '/inheritance_params';
  const [isAdding, isRemoving] = [Boolean(adding?.length), Boolean(removing?.length)];
  if ((action === 'add' && isRemoving) || (action === 'remove' && isAdding)) {
    throw invalidField(`${pointer}/action`, 'does not go with the ids that are given');
  }
  if (!isAdding && !isRemoving) {
    throw invalidField(
      `${pointer}/external_customer_ids_to_${action === 'remove' ? 'remove' : 'inherit_subscription'}`,
      'is required',
    );
  }
  const added = `${pointer}/external_customer_ids_to_inherit_subscription`;
  return {
    added: await customersNamed(context, adding, added),
    removed: await customersNamed(context, removing, `${pointer}/external_customer_ids_to_remove`),
  };
}
