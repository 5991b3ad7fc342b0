import type { RequestContext } from '@counterfoil/engine/define';
import {
  invalidField,
  invariant,
  notFound,
  Problem,
  type TaxAssociationId,
} from '@counterfoil/kernel';
import {
  activeTaxRate,
  associationWith,
  createAssociation,
  deleteAssociation,
  taxAssociation,
} from '../../taxes/index.ts';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import type { Beside } from '../modify/beside.ts';
import type { TaxParams } from './schema.ts';
import { assertTaxable } from './taxable.ts';

/** Taxes have streams of their own: the subscription only has to be one that they apply to. */
export const changingTaxes =
  (id: string): SubscriptionDecision =>
  (state) => {
    assertTaxable(existingSubscription(state, id));
    return [];
  };

/** The tax rate that is attached to a subscription, or detached from it. */
export function taxChange(context: RequestContext, id: string, params: TaxParams): Beside {
  return params.action === 'add' ? attaching(context, id, params) : detaching(context, id, params);
}

function attaching(context: RequestContext, entity_id: string, params: TaxParams): Beside {
  const { tax_rate_id: rateId, effective_date } = params;
  invariant(rateId, 'a tax rate that is added is named');
  const association: TaxAssociationId = context.newId('ta');
  const owner = { entity_type: 'subscription', entity_id, currency: null } as const;
  return {
    check: async () => {
      const { id: tax_rate_id } = await activeTaxRate(context, rateId, 'tax_params.tax_rate_id');
      const held = await associationWith(context, { ...owner, tax_rate_id });
      if (held === null || held === association) return;
      throw new Problem('already_exists', `It applies to the subscription already, as ${held}.`, {
        details: { field: 'tax_params.tax_rate_id' },
      });
    },
    after: async () => {
      const create = createAssociation({
        ...{ id: association, tax_rate_id: rateId, ...owner },
        ...{ start_date: effective_date ?? null, end_date: null },
        ...{ priority: 0, auto_apply: true, metadata: {} },
      });
      await context.execute(taxAssociation, association, create);
    },
    changed: async () => ({ tax_associations: [{ id: association, change_action: 'created' }] }),
  };
}

function detaching(
  context: RequestContext,
  entity_id: string,
  { tax_association_id: id }: TaxParams,
): Beside {
  invariant(id, 'a tax rate that is removed is named');
  const pointer = '/tax_params/tax_association_id';
  return {
    check: async () => {
      const found = await context.load(taxAssociation, id);
      const field = pointer.slice(1).replaceAll('/', '.');
      if (!found || found.status === 'deleted') throw notFound('tax association', id, field);
      if (found.entity_type === 'subscription' && found.entity_id === entity_id) return;
      throw invalidField(pointer, 'is of something else');
    },
    after: async () => {
      await context.execute(taxAssociation, id, deleteAssociation(id as TaxAssociationId));
    },
    changed: async () => ({ tax_associations: [{ id, change_action: 'ended' }] }),
  };
}
