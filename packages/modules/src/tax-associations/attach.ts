import type { RequestContext } from '@counterfoil/engine/define';
import { invalidField, notFound, type TaxAssociationId } from '@counterfoil/kernel';
import { customer, customerIdOf } from '../customers/index.ts';
import { referredRecord } from '../record/index.ts';
import { assertTaxable, subscription } from '../subscriptions/index.ts';
import {
  type CreateAssociation,
  createAssociation,
  type TaxEntity,
  taxRateReference,
} from '../taxes/index.ts';

interface Owner {
  readonly entity_type: TaxEntity;
  readonly entity_id: string;
}

/**
 * Returns the owner that a request attaches a rate to. Nothing is attached to an invoice, which names its rates
 * itself: 404 naming entity_id.
 */
async function ownerOf(context: RequestContext, body: CreateAssociation): Promise<Owner> {
  const { entity_id, external_customer_id } = body;
  const entity_type = body.entity_type ?? (external_customer_id === undefined ? null : 'customer');
  if (entity_type === null) throw invalidField('/entity_type', 'is required');
  if (entity_type !== 'customer' && external_customer_id !== undefined) {
    throw invalidField('/external_customer_id', `does not name a ${entity_type}`);
  }
  switch (entity_type) {
    case 'tenant': {
      const { tenantId } = context.principal;
      const given = entity_id ?? tenantId;
      if (given !== tenantId) throw notFound('tenant', given, 'entity_id');
      return { entity_type, entity_id: tenantId };
    }
    case 'customer': {
      const named = { customer_id: entity_id, external_customer_id };
      const id = await customerIdOf(context, named, {
        id: 'entity_id',
        externalId: 'external_customer_id',
      });
      await referredRecord(context, customer, { id, what: 'customer', field: 'entity_id' });
      return { entity_type, entity_id: id };
    }
    case 'subscription': {
      if (entity_id === undefined) throw invalidField('/entity_id', 'is required');
      return { entity_type, entity_id: await subscriptionTaxed(context, entity_id) };
    }
    case 'invoice':
      if (entity_id === undefined) throw invalidField('/entity_id', 'is required');
      throw notFound(entity_type, entity_id, 'entity_id');
    default:
      return entity_type satisfies never;
  }
}

/** The id of a subscription that a rate can apply to. Throws a Problem for none, for one that has ended, and for one that is inherited. */
async function subscriptionTaxed(context: RequestContext, id: string): Promise<string> {
  const state = await context.load(subscription, id);
  if (!state || state.status === 'deleted') throw notFound('subscription', id, 'entity_id');
  assertTaxable(state, 'entity_id');
  return state.id;
}

/** The decision to attach a rate, after rate and owner were found. */
export async function prepareAssociation(
  context: RequestContext,
  id: TaxAssociationId,
  body: CreateAssociation,
) {
  const { id: tax_rate_id } = await taxRateReference(context, body.tax_rate_code);
  const { priority, auto_apply, metadata } = body;
  return createAssociation({
    id,
    tax_rate_id,
    ...(await ownerOf(context, body)),
    currency: body.currency ?? null,
    start_date: body.start_date ?? null,
    end_date: body.end_date ?? null,
    priority,
    auto_apply,
    metadata,
  });
}
