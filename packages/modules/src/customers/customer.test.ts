import { type CustomerId, derivedId } from '@counterfoil/kernel';
import { folded, given, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  archiveCustomer,
  type CustomerEvent,
  createCustomer,
  customer,
  customerView,
  updateCustomer,
} from './customer.ts';
import { createCustomerSchema, customerSchema, updateCustomerSchema } from './schema.ts';

const test = suite('customer');

const id = 'cust_01' as CustomerId;

const created: CustomerEvent = {
  type: 'CustomerCreated',
  data: {
    id,
    name: 'Ada',
    external_id: 'ext-1',
    email: 'ada@example.com',
    address_line1: null,
    address_line2: null,
    address_city: 'Berlin',
    address_state: null,
    address_postal_code: null,
    address_country: 'DE',
    timezone: 'Europe/Berlin',
    parent_customer_id: null,
    metadata: { tier: 'gold' },
    integrations: [],
    tax_associations: [],
  },
};
const archived: CustomerEvent = { type: 'CustomerArchived', data: {} };
const updated = (
  changes: object,
  integrations: (CustomerEvent & { type: 'CustomerUpdated' })['data']['integrations'] = [],
): CustomerEvent => ({
  type: 'CustomerUpdated',
  data: { changes, integrations, unlinked: [] },
});

const create = (request: object, zone = 'Europe/Berlin') =>
  createCustomer(id, createCustomerSchema.parse(request), {
    timeZone: zone,
    parent: null,
    taxAssociations: [],
  });
const update = (request: object) => updateCustomer(id, updateCustomerSchema.parse(request));

test('is created with what is given; the rest is absent', () => {
  given(customer, [])
    .when(
      create({
        name: 'Ada',
        external_id: 'ext-1',
        email: 'ada@example.com',
        address_line1: '',
        address_city: 'Berlin',
        address_country: 'de',
        metadata: { tier: 'gold' },
      }),
    )
    .then([created]);
});

test('an update records only the fields that differ', () => {
  given(customer, [created])
    .when(update({ name: 'Ada', email: 'new@example.com', address_country: 'DE' }))
    .then([updated({ email: 'new@example.com' })]);
});

test('an update that changes nothing records nothing', () => {
  given(customer, [created]).when(update({})).then([]);
  given(customer, [created])
    .when(update({ name: 'Ada', address_line1: null, metadata: { tier: 'gold' } }))
    .then([]);
});

test('a parent is given, kept and taken away', () => {
  const parent = 'cust_02' as CustomerId;
  given(customer, [created])
    .when(updateCustomer(id, updateCustomerSchema.parse({ parent_customer_id: parent }), parent))
    .then([updated({ parent_customer_id: parent })]);
  const child = [created, updated({ parent_customer_id: parent })];
  given(customer, child)
    .when(update({ email: 'new@example.com' }))
    .then([updated({ email: 'new@example.com' })]);
  assert.equal(customer.refersTo?.(folded(customer, child), stampAt(0).occurred_at), [
    { category: 'customer', id: parent, what: 'parent customer' },
  ]);
  given(customer, child)
    .when(updateCustomer(id, updateCustomerSchema.parse({ parent_customer_id: '' }), null))
    .then([updated({ parent_customer_id: null })]);
  const gone = [...child, updated({ parent_customer_id: null })];
  assert.equal(customer.refersTo?.(folded(customer, gone), stampAt(0).occurred_at), []);
});

test('an empty string and null clear an optional text', () => {
  given(customer, [created])
    .when(update({ email: '', address_city: null }))
    .then([updated({ email: null, address_city: null })]);
});

test('metadata replaces what was there; null keeps it', () => {
  given(customer, [created])
    .when(update({ metadata: { region: 'eu' } }))
    .thenState((state) => assert.equal(state?.metadata, { region: 'eu' }));
  given(customer, [created])
    .when(update({ metadata: {} }))
    .then([updated({ metadata: {} })]);
  given(customer, [created])
    .when(update({ metadata: null }))
    .then([]);
});

const mapping = { provider_type: 'stripe', provider_entity_id: 'cus_1' };
const linked = updated({}, [
  { id: derivedId('eim', `${id}\nstripe`), ...mapping, entity_id: id, metadata: {} },
]);

test('a mapping of a new provider is added, for the customer itself unless an entity is named', () => {
  given(customer, [created])
    .when(update({ integration_entity_mapping: [mapping] }))
    .then([linked]);
});

test('a mapping replaces the one of the same provider, which keeps its id and its creation', () => {
  const hubspot = { provider_type: 'hubspot', provider_entity_id: 'h1', entity_id: 'contact-7' };
  given(customer, [created, linked])
    .when(
      update({
        integration_entity_mapping: [hubspot, { ...mapping, provider_entity_id: 'cus_2' }],
      }),
    )
    .thenState((state) => {
      const [first, second] = state?.integrations ?? [];
      assert.is(first?.id, derivedId('eim', `${id}\nstripe`));
      assert.is(first?.provider_entity_id, 'cus_2');
      assert.is(first?.created_at, stampAt(1).occurred_at);
      assert.is(first?.updated_at, stampAt(2).occurred_at);
      assert.is(second?.entity_id, 'contact-7');
    });
});

test('the same mapping again changes nothing', () => {
  given(customer, [created, linked])
    .when(update({ integration_entity_mapping: [mapping] }))
    .then([]);
});

test('what does not exist cannot be changed or deleted', () => {
  given(customer, [])
    .when(update({ name: 'Eve' }))
    .thenProblem('not_found');
  given(customer, []).when(archiveCustomer(id)).thenProblem('not_found');
});

test('deleting archives; doing it again changes nothing', () => {
  given(customer, [created]).when(archiveCustomer(id)).then([archived]);
  given(customer, [created, archived]).when(archiveCustomer(id)).then([]);
});

test('an archived customer is not writable', () => {
  given(customer, [created, archived])
    .when(update({ name: 'Eve' }))
    .thenProblem('invalid_operation');
});

test('a customer holds its external_id until it is archived', () => {
  const heldAfter = (events: readonly CustomerEvent[]) =>
    customer.unique?.(folded(customer, events)).map(({ name, value }) => `${name} ${value}`);
  assert.equal(heldAfter([]), []);
  assert.equal(heldAfter([created]), ['external_id ext-1']);
  assert.equal(heldAfter([created, updated({ external_id: 'ext-2' })]), ['external_id ext-2']);
  assert.equal(heldAfter([created, archived]), []);
});

test('the view leaves out what is absent and carries the stamps', () => {
  const view = customerView(folded(customer, [created, updated({ address_city: null })]));
  assert.equal(view, {
    id,
    status: 'published',
    name: 'Ada',
    external_id: 'ext-1',
    email: 'ada@example.com',
    address_country: 'DE',
    timezone: 'Europe/Berlin',
    metadata: { tier: 'gold' },
    integrations: [],
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    created_at: stampAt(0).occurred_at,
    created_by: 'user_01',
    updated_at: stampAt(1).occurred_at,
    updated_by: 'user_01',
  });
});

test('the view of a customer with mappings is of the published form', () => {
  const view = customerView(folded(customer, [created, linked]));
  assert.ok(customerSchema.safeParse(view).success);
});

test.run();
