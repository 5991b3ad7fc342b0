import type { CustomerId } from '@counterfoil/kernel';
import { stampAt } from '@counterfoil/testkit';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CustomerState, createCustomer, customer, updateCustomer } from './customer.ts';
import { createCustomerSchema, updateCustomerSchema } from './schema.ts';

const test = suite('customer properties');

const id = 'cust_01' as CustomerId;
const texts = fc.constantFrom('a', 'b');
const clearableTexts = fc.constantFrom('a', 'b', '', null);
const countries = fc.constantFrom('de', 'FR', '', null);
const providers = fc.constantFrom('stripe', 'hubspot');

const requests = fc.record(
  {
    name: texts,
    external_id: texts,
    address_city: clearableTexts,
    address_country: countries,
    metadata: fc.constantFrom(null, {}, { a: '1' }, { a: '2', b: '1' }),
    integration_entity_mapping: fc.uniqueArray(
      fc.record({ provider_type: providers, provider_entity_id: texts }),
      { selector: ({ provider_type }) => provider_type, maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
type Request = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

/** The record that a client expects which has only read the specification. */
interface Expected {
  fields: Record<string, unknown>;
  providers: Record<string, string>;
}

function expect(before: Expected, request: Request): Expected {
  const { integration_entity_mapping = [], metadata, ...texts } = request;
  const cleared = Object.entries(texts).map(([name, text]) => [
    name,
    name === 'address_country' ? text?.toUpperCase() || null : text || null,
  ]);
  return {
    fields: { ...before.fields, ...Object.fromEntries(cleared), ...(metadata && { metadata }) },
    providers: Object.assign(
      { ...before.providers },
      ...integration_entity_mapping.map((m) => ({ [m.provider_type]: m.provider_entity_id })),
    ),
  };
}

function apply(state: CustomerState, request: Request, second: number): [CustomerState, number] {
  const decide = updateCustomer(id, updateCustomerSchema.parse(request));
  const events = decide(state, stampAt(second).occurred_at);
  const after = events.reduce<CustomerState>(
    (folded, event) => customer.evolve(folded, { ...event, stamp: stampAt(second) }),
    state,
  );
  return [after, events.length];
}

const start = createCustomerSchema.parse({ name: 'a', external_id: 'a' });
const [created] = createCustomer(id, start, { timeZone: 'UTC', parent: null, taxAssociations: [] })(
  null,
  stampAt(0).occurred_at,
);
assert.ok(created);
const initial = customer.evolve(null, { ...created, stamp: stampAt(0) });

/** Asserts that a customer is at each step what the sender of the updates expects. */
function isAsExpected(sequence: readonly Request[]): void {
  let state = initial;
  let expected: Expected = { fields: { name: 'a', external_id: 'a' }, providers: {} };
  sequence.forEach((request, index) => {
    expected = expect(expected, request);
    [state] = apply(state, request, index + 1);
    assert.is(apply(state, request, index + 1)[1], 0, 'repeating an update is no event');
  });
  const record = state as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(expected.fields)) {
    assert.equal(record[name], value, name);
  }
  const held = state?.integrations.map((i) => [i.provider_type, i.provider_entity_id]) ?? [];
  assert.equal(Object.fromEntries(held), expected.providers);
}

test('after any updates the customer is what their sender expects; repeating one is no event', () =>
  fc.assert(fc.property(fc.array(requests, { maxLength: 12 }), isAsExpected), { numRuns: 300 }));

test.run();
