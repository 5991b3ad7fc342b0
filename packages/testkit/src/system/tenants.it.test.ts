import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, caller } from '../caller.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import {
  type ExampleRequest,
  exampleRequest,
  isListAt,
  namesByQuery,
  type Place,
  type RecordName,
  referencesOf,
  requestNaming,
  requestWith,
  routeKeys,
  send,
  unclassifiedPlaces,
} from './examples.ts';
import { type Operation, readOperations } from './operations.ts';
import { assertProblem } from './problem-answer.ts';
import { Records } from './records.ts';
import { watchRequests } from './stored-requests.ts';

const test = suite('what belongs to another tenant or environment');

/** In every text of the victim's records; nobody else may ever read it. */
const mark = 'classified';

/** Records that belong to a tenant as a whole: all its environments see them. */
const namesOfTenants: readonly RecordName[] = [
  'tenant',
  'env',
  'sandbox',
  'clocked',
  'owner',
  'user',
];

/** The records of the victim, by the name that an operation gives them. */
type Loot = Readonly<Record<RecordName, string>>;

interface Attacker {
  readonly own: Records;
  /** Names of records of the victim that the attacker must not see. */
  readonly forbidden: readonly RecordName[];
  /** Texts of the victim that the attacker must not see. */
  readonly secret: RegExp;
}

let stack: SharedStack;
let victim: Records;
let loot: Loot;
let operations: ReadonlyMap<string, Operation>;
const attackers: Record<'stranger' | 'neighbour', Attacker | null> = {
  stranger: null,
  neighbour: null,
};

/**
 * One record of each kind, with the wallet in which there are entries, and some that are archived, closed
 * or deleted.
 */
async function victimsRecords(records: Records): Promise<Loot> {
  const loot: Record<RecordName, string> = {};
  const made = new Map<string, Readonly<Record<string, unknown>>>();
  for (const name of namesIn(operations)) {
    const [kind = '', field = 'id'] = name.split('.');
    const record = made.get(kind) ?? (await records.record(kind));
    made.set(kind, record);
    loot[name] = String(record[field]);
  }
  const { tenant } = records;
  await tenant.ok('DELETE', `/customers/${await records.make('cust')}`);
  await tenant.ok('POST', `/wallets/${await records.make('wallet')}/terminate`);
  await tenant.ok('DELETE', `/webhooks/endpoints/${await records.make('webhook')}`);
  return { ...loot, wallet: namedIn(loot, 'wtxn.wallet_id') };
}

/** Everything that names a record in some operation. */
function namesIn(all: ReadonlyMap<string, Operation>): ReadonlySet<RecordName> {
  const references = [...all.values()].map(referencesOf);
  return new Set(
    references.flatMap(({ required, filters }) => [...required.values(), ...filters.values()]),
  );
}

function namedIn(from: Loot, name: RecordName): string {
  const value = from[name];
  if (value === undefined) throw new Error(`the victim has no ${name}`);
  return value;
}

/** A second environment of a tenant, with a key of the same person that may do everything in it. */
async function otherEnvironment({ tenantId, ok }: TestTenant): Promise<TestTenant> {
  const { id } = await ok('POST', '/environments', { name: 'Other', type: 'production' });
  const key = { name: 'Key of the other environment', type: 'private_key', environment_id: id };
  const { api_key: apiKey } = await ok('POST', '/secrets/api/keys', key);
  const call = caller(stack.baseUrl, apiKey);
  await call.untilKnown();
  return { tenantId, environmentId: id, apiKey, ...call };
}

test.before(async () => {
  stack = await sharedStack();
  const attacked = await stack.tenant('victim');
  const [stranger, neighbour] = await Promise.all([
    stack.tenant('stranger'),
    otherEnvironment(attacked),
  ]);
  victim = new Records(stack, attacked, mark);
  operations = await readOperations(stack.baseUrl);
  loot = await victimsRecords(victim);
  const names = Object.keys(loot);
  attackers.stranger = {
    own: new Records(stack, stranger, 'stranger'),
    forbidden: names,
    secret: /classified|victim/,
  };
  attackers.neighbour = {
    own: new Records(stack, neighbour, 'neighbour'),
    forbidden: names.filter((name) => !namesOfTenants.includes(name)),
    // Users and environments belong to the tenant and not to one of its environments.
    secret: /classified(?!-\d+-(?:Ada|ada@|Sandbox|Importer))/,
  };
});

function attackerOf(who: keyof typeof attackers): Attacker {
  const attacker = attackers[who];
  if (!attacker) throw new Error('the tenants were not made');
  return attacker;
}

function operationOf(key: string): Operation {
  const operation = operations.get(key);
  if (!operation) throw new Error(`${key} is not documented`);
  return operation;
}

/** The answer has nothing of the victim but what the attacker knew and sent. */
function assertNoLeak(answer: Answer, { forbidden, secret }: Attacker, sent: unknown = {}): void {
  const known = JSON.stringify(sent);
  const texts = forbidden.map((name) => namedIn(loot, name));
  const rest = texts
    .filter((text) => known.includes(text))
    .reduce((text, echoed) => text.replaceAll(echoed, ''), answer.text);
  const leaked = texts.filter((text) => rest.includes(text));
  assert.equal(leaked, [], answer.text);
  assert.not.match(rest, secret);
}

/** A name of the form that a record of the victim has, of a record that nobody has. */
const nobodys = (name: string): string =>
  name.includes('_')
    ? `${name.slice(0, name.indexOf('_'))}_01KA0000000000000000000000`
    : 'nobody-at-all';

/** The answer without what differs between any two requests, and with another text for the id. */
function comparable({ status, body }: Answer, id: string): string {
  const { instance: _, ...rest } = body;
  return JSON.stringify([status, rest]).replaceAll(id, 'ID');
}

/** The places of an operation that name something forbidden, and what names it there. */
const attacked = (places: ReadonlyMap<Place, RecordName>, { forbidden }: Attacker) =>
  [...places]
    .filter(([, name]) => forbidden.includes(name))
    .map(([place, name]) => ({ place, name: namedIn(loot, name) }));

test('every documented operation is known, and every place that names a record', () => {
  assert.equal([...operations.keys()].sort(), routeKeys().sort());
  assert.equal([...operations.values()].flatMap(unclassifiedPlaces), []);
});

for (const key of routeKeys()) {
  for (const who of ['stranger', 'neighbour'] as const) {
    test(`${key}: the ${who} gets nothing of the victim`, async () => {
      const attacker = attackerOf(who);
      const { own } = attacker;
      const operation = operationOf(key);
      const { required, filters } = referencesOf(operation);
      const watched = await watchRequests(
        stack.store,
        own.tenant,
        `${who} ${key}`.replace(/\W/g, '_'),
      );
      const base = await exampleRequest(own.makerFor(operation), key);

      const foreign = attacked(required, attacker);
      for (const { place, name } of foreign) {
        const attack = requestNaming(operation, base, place, name);
        const answer = await send(watched, operation, attack);
        assertProblem(answer, 'not_found');
        assertNoLeak(answer, attacker, attack);
        // The attacker cannot even tell that there is such a record.
        const unknown = nobodys(name);
        const control = await send(
          watched,
          operation,
          requestNaming(operation, base, place, unknown),
        );
        assert.is(comparable(answer, name), comparable(control, unknown));
      }
      if (foreign.length > 0) {
        const attack = foreign.reduce(
          (request, { place, name }) => requestNaming(operation, request, place, name),
          base,
        );
        const answer = await send(watched, operation, attack);
        assertProblem(answer, 'not_found');
        assertNoLeak(answer, attacker, attack);
      }
      for (const { place, name } of attacked(filters, attacker)) {
        const value = isListAt(operation, place) ? [name] : name;
        const alone = requestNaming(operation, base, place, name);
        const answer = await send(watched, operation, requestWith(alone, place, value));
        assert.is(answer.status, 200, answer.text);
        // The feed counts nothing.
        assert.equal([answer.body.items, answer.body.pagination?.total ?? 0], [[], 0]);
      }

      const proper = await send(watched, operation, base);
      assert.is(proper.status, operation.success, proper.text);
      assertNoLeak(proper, attacker);
      assert.equal(await watched.storedThoughRefused(), []);
    });
  }
}

/** Returns the requests that a list or search can get without naming anything. */
const wideRequests = (operation: Operation): ExampleRequest[] => {
  const isSearch = operation.method === 'POST';
  const statuses = ['published', 'archived', 'deleted'];
  const all = { limit: isSearch ? 1000 : '1000' };
  const hasStatus = isSearch || 'status' in operation.query;
  const wide = hasStatus ? statuses.map((status) => ({ status, ...all })) : [all];
  if (!isSearch) return wide.map((query) => ({ query })) as ExampleRequest[];
  const values = Object.values(loot);
  const filter = (operator: string, value: unknown) => ({ field: 'id', operator, value });
  return [
    ...wide,
    { filters: [filter('in', { array: values })] },
    { filters: [filter('not_in', { array: [] })], limit: 1000 },
    { filters: [filter('gte', { string: '' })], limit: 1000 },
    { filters: [filter('contains', { string: '_' })], sort: [{ field: 'id', direction: 'asc' }] },
    { start_time: '2000-01-01T00:00:00Z', end_time: '2100-01-01T00:00:00Z', limit: 1000 },
  ].map((body) => ({ body }));
};

for (const who of ['stranger', 'neighbour'] as const) {
  test(`lists and searches show the ${who} nothing of the victim, however wide the question`, async () => {
    const attacker = attackerOf(who);
    const lists = [...operations.values()].filter((operation) => {
      const { method, path, query, queryRequired, body } = operation;
      const isWide = query.limit && !queryRequired && !namesByQuery(operation);
      return (method === 'GET' ? isWide : path.endsWith('/search') && body) && !path.includes('{');
    });
    assert.ok(lists.length >= 5);
    for (const operation of lists) {
      for (const wide of wideRequests(operation)) {
        const answer = await send(attacker.own.tenant, operation, wide);
        assert.is(answer.status, 200, answer.text);
        assertNoLeak(answer, attacker, wide);
      }
    }
  });
}

test('no header makes a key act in another tenant or environment', async () => {
  const { tenantId, environmentId } = victim.tenant;
  const pretence = {
    'x-tenant-id': tenantId,
    'x-environment-id': environmentId,
    'x-user-id': namedIn(loot, 'owner'),
  };
  for (const { own } of [attackerOf('stranger'), attackerOf('neighbour')]) {
    const { call, ok } = own.tenant;
    assertProblem(await call('GET', `/wallets/${loot.wallet}`, undefined, pretence), 'not_found');
    const conditional = { ...pretence, 'if-none-match': '*' };
    assertProblem(
      await call('GET', `/customers/${loot.cust}`, undefined, conditional),
      'not_found',
    );
    const external_id = own.text('customer');
    const made = await ok('POST', '/customers', { external_id, name: 'Mine' }, pretence);
    assert.is(made.environment_id, own.tenant.environmentId);
  }
});

test('the same idempotency key, external_id and e-mail address live in each of them beside the others', async () => {
  const callers = [victim, attackerOf('stranger').own, attackerOf('neighbour').own];
  const header = { 'idempotency-key': 'shared' };
  const seen = { customer: new Set(), wallet: new Set(), entry: new Set(), key: new Set() };
  for (const { tenant } of callers) {
    const send = async (path: string, body: unknown) => {
      const answer = await tenant.call('POST', path, body, header);
      assert.ok(answer.status < 300, answer.text);
      assert.is(answer.headers.get('idempotency-replayed'), null, path);
      return answer.body;
    };
    const customer = await send('/customers', { external_id: 'shared', name: 'Shared' });
    const wallet = await send('/wallets', { external_customer_id: 'shared', currency: 'usd' });
    assert.is(wallet.customer_id, customer.id);
    const load = { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '3' };
    const entry = await send(`/wallets/${wallet.id}/top-up`, load);
    const key = await send('/secrets/api/keys', { name: 'Shared', type: 'private_key' });
    seen.customer.add(customer.id);
    seen.wallet.add(wallet.id);
    seen.entry.add(entry.wallet_transaction.id);
    seen.key.add(key.api_key);
  }
  assert.equal(
    Object.values(seen).map(({ size }) => size),
    [3, 3, 3, 3],
  );
});

test('an idempotency key of the victim, with its path and body, repeats nothing to others', async () => {
  const path = `/wallets/${loot.wallet}/debit`;
  const header = { 'idempotency-key': 'stolen' };
  await victim.tenant.ok('POST', path, { credits: '1' }, header);
  for (const attacker of [attackerOf('stranger'), attackerOf('neighbour')]) {
    const answer = await attacker.own.tenant.call('POST', path, { credits: '1' }, header);
    assertProblem(answer, 'not_found');
    assert.is(answer.headers.get('idempotency-replayed'), null);
  }
});

test('nothing happened to the records of the victim but what the victim did', async () => {
  const { tenantId, environmentId, ok } = victim.tenant;
  const keyOf = async (records: Records): Promise<string[]> => {
    const { items } = await records.tenant.ok('GET', '/secrets/api/keys?limit=1000');
    return items.map(({ id }: { id: string }) => id);
  };
  const own = await keyOf(victim);
  const keysOfTenant = [...own, ...(await keyOf(attackerOf('neighbour').own))];
  const upTo = await stack.store.head();
  let events = 0;
  for await (const { stream, metadata } of stack.store.readLog({
    prefixes: [''],
    after: 0n,
    upTo,
  })) {
    const { key_id } = metadata.actor;
    const isOfEnvironment = stream.includes(`-${environmentId}.`);
    if (!isOfEnvironment && !stream.includes(`-${tenantId}.`)) continue;
    events += 1;
    // The first records of a tenant are made by the service itself.
    if (key_id === null) continue;
    assert.ok((isOfEnvironment ? own : keysOfTenant).includes(key_id), `${stream} by ${key_id}`);
  }
  assert.ok(events > 20, `${events} events`);
  // Ten, less the debit that was stolen and the one whose idempotency key was.
  assert.is((await ok('GET', `/wallets/${loot.wallet}`)).credit_balance, '8');
});

test.run();
