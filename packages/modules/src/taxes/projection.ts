import { recordProjection } from '@counterfoil/engine/define';
import { associationView, taxAssociation } from './tax-association.ts';
import { comparedCode, taxRate, taxRateView } from './tax-rate.ts';

/** One row per tax rate: what `GET /taxes/rates/{id}` answers. */
export const taxRateTable = recordProjection(taxRate, {
  name: 'tax_rates',
  version: 1,
  view: taxRateView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    code: { type: 'text', of: ({ code }) => comparedCode(code), index: true },
    scope: { type: 'text', of: ({ scope }) => scope },
  },
});

/** One row per association, without its rate. */
export const taxAssociationTable = recordProjection(taxAssociation, {
  name: 'tax_associations',
  version: 1,
  view: associationView,
  columns: {
    tax_rate_id: { type: 'text', of: ({ tax_rate_id }) => tax_rate_id, index: true },
    entity_type: { type: 'text', of: ({ entity_type }) => entity_type },
    entity_id: { type: 'text', of: ({ entity_id }) => entity_id, index: true },
  },
});
