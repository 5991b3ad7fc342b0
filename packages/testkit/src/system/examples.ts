import type { Answer, Caller } from '../caller.ts';
import { catalogExamples } from './catalog-examples.ts';
import { deliveryExamples } from './delivery-examples.ts';
import type { Example, ExampleRequest, Place } from './example.ts';
import type { Operation } from './operations.ts';
import type { Records } from './records.ts';

export type { Example, ExampleRequest, Place } from './example.ts';

const withId = (make: (own: Records) => Promise<string>): Example['request'] => {
  return async (own) => ({ path: { id: await make(own) } });
};

const nothing: Example['request'] = () => ({});

const tenancy: Readonly<Record<string, Example>> = {
  'GET /users/me': { request: nothing },
  'PUT /users/me': { request: (own) => ({ body: { metadata: { note: own.text('me') } } }) },
  'PUT /users/{id}': {
    request: async (own) => ({
      path: { id: await own.serviceAccount() },
      body: { name: own.text('account') },
    }),
    names: { 'path.id': 'service_account' },
  },
  'GET /rbac/roles': { request: nothing },
  'GET /rbac/roles/{id}': {
    request: () => ({ path: { id: 'all_reader' } }),
    texts: ['path.id'],
  },
  'GET /environments': { request: nothing },
  'POST /environments': {
    request: (own) => ({ body: { name: own.text('environment'), type: 'development' } }),
  },
  'GET /environments/{id}': {
    request: (own) => ({ path: { id: own.tenant.environmentId } }),
    names: { 'path.id': 'environment' },
  },
  'PUT /environments/{id}': {
    request: (own) => ({
      path: { id: own.tenant.environmentId },
      body: { timezone: 'Europe/Berlin' },
    }),
    names: { 'path.id': 'environment' },
  },
  'POST /users': {
    request: (own) => ({ body: { type: 'user', email: own.email(), name: own.text('person') } }),
  },
  'POST /users/search': { request: nothing, filters: { 'body.user_ids': 'person' } },
  'PUT /users/{id}/roles': {
    request: async (own) => ({
      path: { id: await own.person() },
      body: { roles: ['all_reader'] },
    }),
    names: { 'path.id': 'person' },
  },
  'DELETE /users/{id}': {
    request: withId((own) => own.person()),
    names: { 'path.id': 'person' },
  },
  'GET /tenants/{id}': {
    request: (own) => ({ path: { id: own.tenant.tenantId } }),
    names: { 'path.id': 'tenant' },
  },
  'PUT /tenants/update': {
    request: (own) => ({ body: { metadata: { note: own.text('tenant') } } }),
  },
  'POST /secrets/api/keys': {
    request: async (own) => ({
      body: {
        name: own.text('key'),
        type: 'private_key',
        service_account_id: await own.serviceAccount(),
      },
    }),
    names: {
      'body.service_account_id': 'service_account',
      'body.environment_id': 'environment',
    },
  },
  'GET /secrets/api/keys': { request: nothing },
  'DELETE /secrets/api/keys/{id}': {
    request: withId((own) => own.apiKey()),
    names: { 'path.id': 'api_key' },
  },
};

const customers: Readonly<Record<string, Example>> = {
  'POST /customers': {
    request: (own) => ({ body: { external_id: own.text('customer'), name: own.text('name') } }),
    texts: [
      'body.external_id',
      'body.integration_entity_mapping.0.provider_entity_id',
      'body.integration_entity_mapping.0.entity_id',
    ],
  },
  'PUT /customers': {
    request: async (own) => ({
      query: { id: (await own.customer()).id },
      body: { name: own.text('name') },
    }),
    names: { 'query.id': 'customer', 'query.external_customer_id': 'external_id' },
    texts: [
      'body.external_id',
      'body.integration_entity_mapping.0.provider_entity_id',
      'body.integration_entity_mapping.0.entity_id',
    ],
  },
  'GET /customers': {
    request: nothing,
    filters: {
      'query.customer_ids': 'customer',
      'query.external_ids': 'external_id',
      'query.external_id': 'external_id',
      'query.email': 'email',
    },
  },
  'POST /customers/search': {
    request: nothing,
    filters: {
      'body.customer_ids': 'customer',
      'body.external_ids': 'external_id',
      'body.external_id': 'external_id',
      'body.email': 'email',
    },
  },
  'GET /customers/{id}': {
    request: withId(async (own) => (await own.customer()).id),
    names: { 'path.id': 'customer' },
  },
  'GET /customers/external/{external_id}': {
    request: async (own) => ({ path: { external_id: (await own.customer()).external_id } }),
    names: { 'path.external_id': 'external_id' },
  },
  'DELETE /customers/{id}': {
    request: withId(async (own) => (await own.customer()).id),
    names: { 'path.id': 'customer' },
  },
  'GET /customers/{id}/wallets': {
    request: withId(async (own) => (await own.customer()).id),
    names: { 'path.id': 'customer' },
  },
  'GET /customers/wallets': {
    request: async (own) => ({
      query: { id: (await own.customer()).id, include_real_time_balance: 'true' },
    }),
    names: { 'query.id': 'customer', 'query.lookup_key': 'external_id' },
  },
  'GET /customers/{id}/entitlements': {
    request: withId(async (own) => (await own.customer()).id),
    names: { 'path.id': 'customer' },
    texts: ['query.feature_ids', 'query.subscription_ids'],
  },
  'GET /customers/external/{external_id}/entitlements': {
    request: async (own) => ({ path: { external_id: (await own.customer()).external_id } }),
    names: { 'path.external_id': 'external_id' },
    texts: ['query.feature_ids', 'query.subscription_ids'],
  },
};

const wallet: Example = {
  request: withId((own) => own.wallet()),
  names: { 'path.id': 'wallet' },
};

const order: Example = {
  request: withId((own) => own.order()),
  names: { 'path.id': 'transaction' },
};

const hold: Example = {
  request: async (own) => {
    const { id, wallet_id } = await own.hold();
    return { path: { id: wallet_id, hold_id: id } };
  },
  names: { 'path.id': 'wallet', 'path.hold_id': 'hold' },
};

const wallets: Readonly<Record<string, Example>> = {
  'POST /wallets': {
    request: async (own) => ({ body: { customer_id: (await own.customer()).id, currency: 'usd' } }),
    names: {
      'body.customer_id': 'customer',
      'body.external_customer_id': 'external_id',
      'body.price_unit': 'price_unit_code',
    },
  },
  'GET /wallets': { request: nothing },
  'POST /wallets/search': { request: nothing, filters: { 'body.wallet_ids': 'wallet' } },
  'GET /wallets/{id}': wallet,
  'PUT /wallets/{id}': {
    request: async (own) => ({
      path: { id: await own.wallet() },
      body: { name: own.text('wallet') },
    }),
    names: { 'path.id': 'wallet' },
  },
  'POST /wallets/{id}/top-up': {
    request: async (own) => ({
      path: { id: await own.wallet() },
      body: { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '5' },
    }),
    names: { 'path.id': 'wallet' },
  },
  'POST /wallets/{id}/debit': {
    request: async (own) => ({ path: { id: await own.wallet() }, body: { credits: '1' } }),
    names: { 'path.id': 'wallet' },
  },
  'POST /wallets/{id}/freeze': wallet,
  'POST /wallets/{id}/unfreeze': wallet,
  'POST /wallets/{id}/terminate': wallet,
  'GET /wallets/{id}/balance/real-time': wallet,
  'GET /wallets/{id}/balance': wallet,
  'GET /wallets/{id}/ledger': wallet,
  'POST /wallets/{id}/transactions/bulk': {
    request: async (own) => ({
      path: { id: await own.wallet() },
      body: { entries: [{ type: 'credit', credits: '2' }] },
    }),
    names: { 'path.id': 'wallet' },
  },
  'GET /wallets/{id}/transactions/{transaction_id}/explanation': {
    request: async (own) => {
      const { id, wallet_id } = await own.transaction();
      return { path: { id: wallet_id, transaction_id: id } };
    },
    names: { 'path.id': 'wallet', 'path.transaction_id': 'transaction' },
  },
  'POST /wallets/transactions/{id}/complete': order,
  'POST /wallets/transactions/{id}/cancel': order,
  'POST /wallets/{id}/holds': {
    request: async (own) => ({ path: { id: await own.wallet() }, body: { credits: '1' } }),
    names: { 'path.id': 'wallet' },
  },
  'GET /wallets/{id}/holds': wallet,
  'GET /wallets/{id}/holds/{hold_id}': hold,
  'POST /wallets/{id}/holds/{hold_id}/capture': hold,
  'POST /wallets/{id}/holds/{hold_id}/void': hold,
  'POST /wallets/transactions/search': {
    request: nothing,
    filters: {
      'body.id': 'transaction',
      'body.wallet_id': 'wallet',
      'body.customer_id': 'customer',
      'body.reference_id': 'request',
      'body.created_by': 'owner',
    },
  },
  'GET /wallets/{id}/transactions': {
    request: withId((own) => own.wallet()),
    names: { 'path.id': 'wallet' },
    filters: {
      'query.id': 'transaction',
      'query.reference_id': 'request',
      'query.created_by': 'owner',
    },
  },
};

const ledger: Readonly<Record<string, Example>> = {
  'GET /ledger/checkpoints': { request: nothing },
  'GET /ledger/verification': { request: nothing },
  'GET /ledger/checkpoints/{id}': {
    request: withId((own) => own.checkpoint()),
    names: { 'path.id': 'checkpoint' },
  },
};

/** An example for every operation of the API. Who adds an operation adds its line here. */
export const examples: Readonly<Record<string, Example>> = {
  ...tenancy,
  ...customers,
  ...catalogExamples,
  ...wallets,
  ...ledger,
  ...deliveryExamples,
};

/** The path and query of a request to an operation. */
export function addressOf({ path }: Operation, request: ExampleRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(request.path?.[name] ?? ''),
  );
  const query = new URLSearchParams(request.query).toString();
  return query === '' ? filled : `${filled}?${query}`;
}

/** Sends a request to an operation. */
export const send = (
  { call }: Pick<Caller, 'call'>,
  operation: Operation,
  request: ExampleRequest,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> => call(operation.method, addressOf(operation, request), request.body, headers);

/** The value with another one at a place inside it. What leads there is made where it is missing. */
export function withValue(
  whole: unknown,
  [key, ...rest]: readonly (string | number)[],
  value: unknown,
): unknown {
  if (key === undefined) return value;
  if (typeof key === 'number') {
    const items = Array.isArray(whole) ? [...whole] : [];
    items[key] = withValue(items[key], rest, value);
    return items;
  }
  const members = typeof whole === 'object' && whole !== null ? whole : {};
  const inner = (members as Readonly<Record<string, unknown>>)[key];
  return { ...members, [key]: withValue(inner, rest, value) };
}

const keysOf = (place: Place): (string | number)[] =>
  place.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key));

/** The request with another value at a place. */
export const requestWith = (request: ExampleRequest, place: Place, value: unknown) =>
  withValue(request, keysOf(place), value) as ExampleRequest;
