import { publisher } from '@counterfoil/engine/define';
import { customer, customerView } from './customer.ts';

const messageTypes = {
  CustomerCreated: 'customer.created',
  CustomerUpdated: 'customer.updated',
  CustomerArchived: 'customer.deleted',
} as const;

/** Every change of a customer is published, with the whole customer as it is after the change. */
export const customerPublisher = publisher(customer, ({ event, after }) => {
  const resource = customerView(after);
  return [
    { type: messageTypes[event.type], resourceId: resource.id, body: { customer: resource } },
  ];
});
