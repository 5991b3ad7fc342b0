import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { associationSchema } from './association-schema.ts';
import { taxRateSchema } from './rate-schema.ts';
import { associationView, taxAssociation } from './tax-association.ts';
import { taxRate, taxRateView } from './tax-rate.ts';

const rateMessages = {
  TaxRateCreated: 'tax_rate.created',
  TaxRateUpdated: 'tax_rate.updated',
  TaxRateArchived: 'tax_rate.deleted',
} as const;

const rateBody = z.object({ tax_rate: taxRateSchema });
const associationBody = z.object({ tax_association: associationSchema });

/** Every change of a tax rate is published, with the whole rate as it is after the change. */
export const taxRatePublicEvents = publicEvents(
  taxRate,
  ({ event, after }) => {
    const resource = taxRateView(after);
    return [
      { type: rateMessages[event.type], resourceId: resource.id, body: { tax_rate: resource } },
    ];
  },
  {
    'tax_rate.created': { summary: 'A tax rate is created', body: rateBody },
    'tax_rate.updated': { summary: 'A tax rate changes', body: rateBody },
    'tax_rate.deleted': { summary: 'A tax rate is archived', body: rateBody },
  },
);

const associationMessages = {
  TaxAssociationCreated: 'tax_association.created',
  TaxAssociationUpdated: 'tax_association.updated',
  TaxAssociationDeleted: 'tax_association.deleted',
} as const;

/** The same for associations, with the id of the rate. */
export const taxAssociationPublicEvents = publicEvents(
  taxAssociation,
  ({ event, after }) => {
    const resource = associationView(after);
    return [
      {
        type: associationMessages[event.type],
        resourceId: resource.id,
        body: { tax_association: resource },
      },
    ];
  },
  {
    'tax_association.created': {
      summary: 'A tax rate applies to something',
      body: associationBody,
    },
    'tax_association.updated': { summary: 'How a tax rate applies changes', body: associationBody },
    'tax_association.deleted': { summary: 'A tax rate applies no more', body: associationBody },
  },
);
