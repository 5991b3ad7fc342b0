import { publisher } from '@counterfoil/engine/define';
import { associationView, taxAssociation } from './tax-association.ts';
import { taxRate, taxRateView } from './tax-rate.ts';

const rateMessages = {
  TaxRateCreated: 'tax_rate.created',
  TaxRateUpdated: 'tax_rate.updated',
  TaxRateArchived: 'tax_rate.deleted',
} as const;

/** Every change of a tax rate is published, with the whole rate as it is after the change. */
export const taxRatePublisher = publisher(taxRate, ({ event, after }) => {
  const resource = taxRateView(after);
  return [
    { type: rateMessages[event.type], resourceId: resource.id, body: { tax_rate: resource } },
  ];
});

const associationMessages = {
  TaxAssociationCreated: 'tax_association.created',
  TaxAssociationUpdated: 'tax_association.updated',
  TaxAssociationDeleted: 'tax_association.deleted',
} as const;

/** The same for associations, with the id of the rate. */
export const taxAssociationPublisher = publisher(taxAssociation, ({ event, after }) => {
  const resource = associationView(after);
  return [
    {
      type: associationMessages[event.type],
      resourceId: resource.id,
      body: { tax_association: resource },
    },
  ];
});
