import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { customer, customerView } from './customer.ts';
import { customerSchema } from './schema.ts';

const messageTypes = {
  CustomerCreated: 'customer.created',
  CustomerUpdated: 'customer.updated',
  CustomerArchived: 'customer.deleted',
} as const;

const body = z.object({ customer: customerSchema });

/** Every change of a customer is published, with the whole customer as it is after the change. */
export const customerPublicEvents = publicEvents(
  customer,
  ({ event, after }) => {
    const resource = customerView(after);
    return [
      { type: messageTypes[event.type], resourceId: resource.id, body: { customer: resource } },
    ];
  },
  {
    'customer.created': { summary: 'A customer is created', body },
    'customer.updated': { summary: 'Data of a customer change', body },
    'customer.deleted': { summary: 'A customer is archived', body },
  },
);
