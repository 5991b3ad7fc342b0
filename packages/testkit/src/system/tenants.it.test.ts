import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../caller.ts';
import { type Stack, startStack } from '../stack.ts';
import { catalogKinds } from './catalog-records.ts';
import { type ExampleRequest, examples, type Place, requestWith, send } from './examples.ts';
import { openings } from './openings.ts';
import { type Operation, readOperations } from './operations.ts';
import { otherEnvironment } from './other-environment.ts';
import { assertProblem } from './problem-answer.ts';
import { type Kind, kindsOfTenants, Records } from './records.ts';
import { unclassifiedPlaces } from './references.ts';
import { watchRequests } from './stored-requests.ts';

const test = suite('what belongs to another tenant or environment');

/** In every text of the victim's records; nobody else may ever read it. */
const mark = 'classified';

const kinds: readonly Kind[] = [
  ...kindsOfTenants,
  ...catalogKinds,
  'api_key',
  'customer',
  'external_id',
  'email',
  'wallet',
  'transaction',
  'request',
  'hold',
  'checkpoint',
  'webhook_endpoint',
  'event_subscription',
];

type Loot = Readonly<Record<Kind, string>>;

interface Attacker {
  readonly own: Records;
  /** Kinds of records of the victim that the attacker must not see. */
  readonly forbidden: readonly Kind[];
  /** Texts of the victim that the attacker must not see. */
  readonly secret: RegExp;
}

const opened = openings();
let stack: Stack;
let victim: Records;
let loot: Loot;
let operations: ReadonlyMap<string, Operation>;
const attackers: Record<'stranger' | 'neighbour', Attacker | null> = {
  stranger: null,
  neighbour: null,
};

/**
 * One record of each kind, those of wallets in one and the same wallet, and some that are archived,
 * closed or deleted.
 */
async function victimsRecords(records: Records): Promise<Loot> {
  const entries: [Kind, string][] = [];
  for (const kind of kinds) entries.push([kind, await records.make(kind)]);
  const { tenant } = records;
  const { id: transaction, wallet_id: wallet, reference_id } = await records.transaction();
  const { id: hold } = await tenant.ok('POST', `/wallets/${wallet}/holds`, { credits: '1' });
  await tenant.ok('DELETE', `/customers/${(await records.customer()).id}`);
  await tenant.ok('POST', `/wallets/${await records.wallet()}/terminate`);
  await tenant.ok('DELETE', `/webhooks/endpoints/${await records.endpoint()}`);
  const ofWallet = { wallet, transaction, request: reference_id, hold };
  return { ...(Object.fromEntries(entries) as Loot), ...ofWallet };
}

test.before(async () => {
  stack = opened.add(await startStack(), (started) => started.stop());
  const attacked = await stack.tenant('victim');
  const [stranger, neighbour] = await Promise.all([
    stack.tenant('stranger'),
    otherEnvironment(stack, attacked),
  ]);
  victim = new Records(stack, attacked, mark);
  loot = await victimsRecords(victim);
  operations = await readOperations(stack.baseUrl);
  attackers.stranger = {
    own: new Records(stack, stranger, 'stranger'),
    forbidden: kinds,
    secret: /classified|victim/,
  };
  attackers.neighbour = {
    own: new Records(stack, neighbour, 'neighbour'),
    forbidden: kinds.filter((kind) => !kindsOfTenants.includes(kind)),
    // The users and environments belong to the tenant and not to one of its environments.
    secret: /classified(?!-person-|-account-|-environment-)/,
  };
});
test.after(() => opened.closeAll());

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
  const texts = forbidden.map((kind) => loot[kind]);
  const rest = texts
    .filter((text) => known.includes(text))
    .reduce((text, echoed) => text.replaceAll(echoed, ''), answer.text);
  const leaked = texts.filter((text) => rest.includes(text));
  assert.equal(leaked, [], answer.text);
  assert.not.match(rest, secret);
}

/** Ids of the form that records of a kind have, of records that nobody has. */
const nobodys = (kind: Kind): string =>
  loot[kind].includes('_')
    ? `${loot[kind].slice(0, loot[kind].indexOf('_'))}_01KA0000000000000000000000`
    : 'nobody-at-all';

/** The answer without what differs between any two requests, and with another text for the id. */
function comparable({ status, body }: Answer, id: string): string {
  const { instance: _, ...rest } = body;
  return JSON.stringify([status, rest]).replaceAll(id, 'ID');
}

const placesOf = (places: Readonly<Partial<Record<Place, Kind>>> = {}): [Place, Kind][] =>
  Object.entries(places) as [Place, Kind][];

test('every documented operation has an example, and every place that names a record is known', () => {
  const without = [...operations.keys()].filter((key) => !Object.hasOwn(examples, key));
  assert.equal(without, [], 'operations without an example');
  const stale = Object.keys(examples).filter((key) => !operations.has(key));
  assert.equal(stale, [], 'examples without an operation');
  const unknown = [...operations.values()].flatMap((operation) =>
    unclassifiedPlaces(operation, examples[operation.key]),
  );
  assert.equal(unknown, []);
});

for (const [key, { request, names, filters }] of Object.entries(examples)) {
  for (const who of ['stranger', 'neighbour'] as const) {
    test(`${key}: the ${who} gets nothing of the victim`, async () => {
      const attacker = attackerOf(who);
      const { own, forbidden } = attacker;
      const operation = operationOf(key);
      const watched = await watchRequests(
        stack.store,
        own.tenant,
        `${who} ${key}`.replace(/\W/g, '_'),
      );
      const base = await request(own);

      for (const [place, kind] of placesOf(names)) {
        if (!forbidden.includes(kind)) continue;
        const attack = requestWith(base, place, loot[kind]);
        const answer = await send(watched, operation, attack);
        assertProblem(answer, 'not_found');
        assertNoLeak(answer, attacker, attack);
        // They cannot even tell that there is such a record.
        const unknown = nobodys(kind);
        const control = await send(watched, operation, requestWith(base, place, unknown));
        assert.is(comparable(answer, loot[kind]), comparable(control, unknown));
      }
      const foreign = placesOf(names).filter(([, kind]) => forbidden.includes(kind));
      if (foreign.length > 0) {
        const attack = foreign.reduce(
          (request, [place, kind]) => requestWith(request, place, loot[kind]),
          base,
        );
        const answer = await send(watched, operation, attack);
        assertProblem(answer, 'not_found');
        assertNoLeak(answer, attacker, attack);
      }
      for (const [place, kind] of placesOf(filters)) {
        if (!forbidden.includes(kind)) continue;
        const isList = /^body\..*_(ids|codes)$/.test(place);
        const value = isList ? [loot[kind]] : loot[kind];
        const answer = await send(watched, operation, requestWith(base, place, value));
        assert.is(answer.status, 200, answer.text);
        assert.equal([answer.body.items, answer.body.pagination.total], [[], 0]);
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
  const wide = statuses.map((status) => ({ status, limit: isSearch ? 1000 : '1000' }));
  if (!isSearch) return wide.map((query) => ({ query })) as ExampleRequest[];
  const values = kinds.map((kind) => loot[kind]);
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
    const lists = [...operations.values()].filter(
      ({ method, path, query, body }) =>
        (method === 'GET' ? query.limit : path.endsWith('/search') && body) && !path.includes('{'),
    );
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
    'x-user-id': loot.owner,
  };
  for (const { own } of [attackerOf('stranger'), attackerOf('neighbour')]) {
    const { call, ok } = own.tenant;
    assertProblem(await call('GET', `/wallets/${loot.wallet}`, undefined, pretence), 'not_found');
    const conditional = { ...pretence, 'if-none-match': '*' };
    assertProblem(
      await call('GET', `/customers/${loot.customer}`, undefined, conditional),
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
