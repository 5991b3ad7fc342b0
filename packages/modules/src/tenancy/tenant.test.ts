import type { TenantId } from '@counterfoil/kernel';
import { folded, given, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tenantSchema, updateTenantSchema } from './schema.ts';
import { createTenant, type TenantEvent, tenant, tenantView, updateTenant } from './tenant.ts';

const test = suite('tenant');

const id = 'tenant_01' as TenantId;
const nothing = {
  email: null,
  help_email: null,
  phone: null,
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_state: null,
  address_postal_code: null,
  address_country: null,
};
const created: TenantEvent = {
  type: 'TenantCreated',
  data: { id, name: 'Acme', metadata: {}, billing_details: nothing },
};
const updated = (changes: object, billing_details: object = {}): TenantEvent => ({
  type: 'TenantUpdated',
  data: { changes, billing_details },
});

const update = (request: object) => updateTenant(id, updateTenantSchema.parse(request));

test('is created with nothing but a name', () => {
  given(tenant, []).when(createTenant(id, 'Acme')).then([created]);
});

test('an update records only what differs, billing details one by one', () => {
  given(tenant, [created, updated({}, { email: 'old@example.com', phone: '1' })])
    .when(
      update({
        name: 'Acme',
        metadata: { region: 'eu' },
        billing_details: { email: 'bill@example.com', address: { address_country: 'de' } },
      }),
    )
    .then([
      updated({ metadata: { region: 'eu' } }, { email: 'bill@example.com', address_country: 'DE' }),
    ]);
});

test('what an update does not name stays', () => {
  const before = [created, updated({}, { email: 'bill@example.com', phone: '1' })];
  given(tenant, before)
    .when(update({ billing_details: { phone: '' } }))
    .thenState((state) => {
      assert.is(state?.billing_details.email, 'bill@example.com');
      assert.is(state?.billing_details.phone, null);
    });
});

test('an update that changes nothing records nothing', () => {
  given(tenant, [created]).when(update({})).then([]);
  given(tenant, [created])
    .when(update({ name: 'Acme', billing_details: { phone: null, address: {} } }))
    .then([]);
});

test('an unknown tenant is not found', () => {
  given(tenant, [])
    .when(update({ name: 'x' }))
    .thenProblem('not_found');
});

test('the view always has billing details, with what is known', () => {
  const view = tenantView(
    folded(tenant, [created, updated({}, { phone: '1', address_city: 'Berlin' })]),
  );
  assert.equal(view, {
    id,
    name: 'Acme',
    status: 'published',
    metadata: {},
    billing_details: { phone: '1', address: { address_city: 'Berlin' } },
    created_at: stampAt(0).occurred_at,
    updated_at: stampAt(1).occurred_at,
  });
  assert.ok(tenantSchema.safeParse(view).success);
});

test.run();
