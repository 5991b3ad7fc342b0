import { type CustomerId, type Stamped, sha256 } from '@counterfoil/kernel';
import { folded, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type CustomerEvent,
  createCustomer,
  customer,
  customerRecords,
  customerView,
} from './customer.ts';
import { createCustomerSchema } from './schema.ts';

const { publicEvents: customerPublicEvents } = customerRecords;
const test = suite('customer publications');

const id = 'cust_01' as CustomerId;
const request = createCustomerSchema.parse({ name: 'Ada', external_id: 'ext-1' });
const [created] = createCustomer(id, request, {
  timeZone: 'UTC',
  parent: null,
  taxAssociations: [],
})(null, stampAt(0).occurred_at);
assert.ok(created);
const renamed: CustomerEvent = {
  type: 'CustomerUpdated',
  data: { changes: { name: 'Eve' }, integrations: [], unlinked: [] },
};
const archived: CustomerEvent = { type: 'CustomerArchived', data: {} };
const events: readonly CustomerEvent[] = [created, renamed, archived];

const published = events.flatMap((event, index) =>
  customerPublicEvents.publish(
    {
      event: { ...event, stamp: stampAt(index) } as Stamped<CustomerEvent>,
      before: folded(customer, events.slice(0, index)),
      after: folded(customer, events.slice(0, index + 1)),
    },
    {},
  ),
);

test('each change is published once, under the name that the specification gives it', () => {
  assert.equal(
    published.map(({ type, resourceId }) => [type, resourceId]),
    [
      ['customer.created', id],
      ['customer.updated', id],
      ['customer.deleted', id],
    ],
  );
});

test('a publication carries the whole customer as it was after its event', () => {
  const seen = published.map(({ body }) => body.customer as ReturnType<typeof customerView>);
  assert.equal(
    seen.map(({ name, status }) => [name, status]),
    [
      ['Ada', 'published'],
      ['Eve', 'published'],
      ['Eve', 'archived'],
    ],
  );
  assert.equal(seen[1], customerView(folded(customer, [created, renamed])));
});

test('the same log gives the same publications, byte for byte', () => {
  const again = customerPublicEvents.publish(
    {
      event: { ...created, stamp: stampAt(0) } as Stamped<CustomerEvent>,
      before: null,
      after: folded(customer, [created]),
    },
    {},
  );
  assert.is(sha256(JSON.stringify(again)), sha256(JSON.stringify([published[0]])));
});

test.run();
