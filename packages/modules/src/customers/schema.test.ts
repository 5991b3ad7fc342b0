import { pointersOf } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { customerRoutes } from './routes.ts';
import { createCustomerSchema, updateCustomerSchema } from './schema.ts';

const customerListSchema = customerRoutes['GET /customers'].query as z.ZodType<{
  readonly customer_ids?: readonly string[];
}>;
const customerSearchSchema = customerRoutes['POST /customers/search'].body as z.ZodType;
const expandQuerySchema = customerRoutes['GET /customers/{id}'].query as z.ZodType;

const test = suite('customer schemas');

const valid = { name: 'Ada', external_id: 'ext-1' };
const mapping = { provider_type: 'stripe', provider_entity_id: 'cus_1' };

const refused: readonly [string, object, string][] = [
  ['name must be there', { external_id: 'x' }, '/name'],
  ['external_id must be there', { name: 'x' }, '/external_id'],
  ['empty name', { ...valid, name: '' }, '/name'],
  ['blank name', { ...valid, name: '  ' }, '/name'],
  ['long name', { ...valid, name: 'x'.repeat(256) }, '/name'],
  ['name of another type', { ...valid, name: 5 }, '/name'],
  ['empty external_id', { ...valid, external_id: '' }, '/external_id'],
  ['long external_id', { ...valid, external_id: 'x'.repeat(256) }, '/external_id'],
  ['malformed email', { ...valid, email: 'ada@' }, '/email'],
  ['long address_line1', { ...valid, address_line1: 'x'.repeat(256) }, '/address_line1'],
  ['long address_line2', { ...valid, address_line2: 'x'.repeat(256) }, '/address_line2'],
  ['long address_city', { ...valid, address_city: 'x'.repeat(101) }, '/address_city'],
  ['long address_state', { ...valid, address_state: 'x'.repeat(101) }, '/address_state'],
  ['long postal code', { ...valid, address_postal_code: 'x'.repeat(21) }, '/address_postal_code'],
  ['unknown country', { ...valid, address_country: 'XX' }, '/address_country'],
  ['country of three letters', { ...valid, address_country: 'DEU' }, '/address_country'],
  ['one letter that is two in upper case', { ...valid, address_country: 'ß' }, '/address_country'],
  ['number in metadata', { ...valid, metadata: { a: 1 } }, '/metadata/a'],
  ['long metadata value', { ...valid, metadata: { a: 'x'.repeat(1025) } }, '/metadata/a'],
  [
    'mapping without provider',
    { ...valid, integration_entity_mapping: [{ provider_entity_id: 'x' }] },
    '/integration_entity_mapping/0/provider_type',
  ],
  [
    'mapping with an empty id',
    { ...valid, integration_entity_mapping: [{ ...mapping, provider_entity_id: '' }] },
    '/integration_entity_mapping/0/provider_entity_id',
  ],
  [
    'mapping of another kind of record',
    { ...valid, integration_entity_mapping: [{ ...mapping, entity_type: 'plan' }] },
    '/integration_entity_mapping/0/entity_type',
  ],
  [
    'two mappings of one provider',
    { ...valid, integration_entity_mapping: [mapping, mapping] },
    '/integration_entity_mapping/1/provider_type',
  ],
];

for (const [what, body, pointer] of refused) {
  test(`create refuses: ${what}`, () => {
    assert.equal(pointersOf(createCustomerSchema, body), [pointer]);
  });
}

for (const [what, body, pointer] of refused.filter(([what]) => !what.includes('must be there'))) {
  test(`update refuses: ${what}`, () => {
    assert.equal(pointersOf(updateCustomerSchema, body), [pointer]);
  });
}

test('lengths are counted in code points, not in UTF-16 units', () => {
  assert.equal(pointersOf(updateCustomerSchema, { address_postal_code: '😀'.repeat(20) }), []);
  assert.equal(pointersOf(updateCustomerSchema, { address_postal_code: '😀'.repeat(21) }), [
    '/address_postal_code',
  ]);
});

test('country codes are taken in any case and kept in upper case', () => {
  assert.is(updateCustomerSchema.parse({ address_country: 'de' }).address_country, 'DE');
});

test('a time zone is an IANA name; null says nothing about it', () => {
  assert.equal(updateCustomerSchema.parse({ timezone: 'Asia/Tokyo' }), { timezone: 'Asia/Tokyo' });
  assert.is(updateCustomerSchema.parse({ timezone: null }).timezone, undefined);
  assert.equal(pointersOf(updateCustomerSchema, { timezone: 'Mars/Olympus' }), ['/timezone']);
});

test('an absent field stays absent, an empty one is cleared', () => {
  assert.equal(updateCustomerSchema.parse({ email: '' }), { email: null });
  assert.equal(updateCustomerSchema.parse({ address_country: '' }), { address_country: null });
});

test('expand knows integrations and nothing else', () => {
  assert.equal(pointersOf(expandQuerySchema, { expand: 'integrations' }), []);
  assert.equal(pointersOf(expandQuerySchema, {}), []);
  assert.equal(pointersOf(expandQuerySchema, { expand: 'integrations,wallets' }), ['/expand/1']);
  assert.equal(pointersOf(customerSearchSchema, { expand: 'wallets' }), ['/expand/0']);
});

test('lists of ids in a query may be joined by commas or repeated', () => {
  const joined = customerListSchema.parse({ customer_ids: 'a,b' });
  const repeated = customerListSchema.parse({ customer_ids: ['a', 'b'] });
  assert.equal(joined.customer_ids, ['a', 'b']);
  assert.equal(repeated.customer_ids, ['a', 'b']);
});

test('a mapping may have the older names of its provider and id, each once', () => {
  const parsed = createCustomerSchema.parse({
    ...valid,
    integration_entity_mapping: [{ provider: 'stripe', id: 'cus_1' }],
  });
  assert.equal(parsed.integration_entity_mapping, [
    { provider_type: 'stripe', provider_entity_id: 'cus_1' },
  ]);
  const twice = { ...valid, integration_entity_mapping: [{ ...mapping, id: 'cus_1' }] };
  assert.equal(pointersOf(createCustomerSchema, twice), ['/integration_entity_mapping/0/id']);
});

test.run();
