import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventTypesOf, modules } from '@counterfoil/modules';
import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';

const test = suite('the feed of events');

let stack: SharedStack;
let folder: string;
test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-feed-'));
  stack = await sharedStack();
});
test.after(async () => {
  rmSync(folder, { recursive: true, force: true });
});

interface FeedItem {
  readonly id: string;
  readonly event_type: string;
  readonly position: string;
  readonly data: { readonly wallet?: { readonly id: string } };
}

/** Reads the feed to its end, in pages. */
async function readFeed(tenant: TestTenant, limit: number): Promise<readonly FeedItem[]> {
  const items: FeedItem[] = [];
  for (let after = ''; ; ) {
    const page = await tenant.ok('GET', `/feed?limit=${limit}${after}`);
    items.push(...page.items);
    if (!page.has_more) return items;
    after = `&after_position=${page.next_position}`;
  }
}

async function newWallet(tenant: TestTenant, name: string): Promise<string> {
  const customer = await tenant.ok('POST', '/customers', { external_id: name, name });
  const body = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '1000' };
  return (await tenant.ok('POST', '/wallets', body)).id;
}

test('a tenant reads its own events, in order, and those of nobody else', async () => {
  const [one, two] = [await stack.tenant('feed-one'), await stack.tenant('feed-two')];
  const wallet = await newWallet(one, 'acme');
  await newWallet(two, 'globex');
  const debit = await one.call('POST', `/wallets/${wallet}/debit`, { credits: '1' });
  const written = debit.headers.get('counterfoil-position');
  const expected = [
    'customer.created',
    'wallet.created',
    'wallet.transaction.created',
    'wallet.transaction.created',
  ];
  const items = await eventually(async () => {
    const read = await readFeed(one, 2);
    return read.at(-1)?.position === written && read;
  });
  assert.equal(
    items.map(({ event_type }) => event_type),
    expected,
  );
  const others = await eventually(async () => {
    const read = await readFeed(two, 2);
    return read.length === 3 && read;
  });
  assert.ok(!JSON.stringify(others).includes(wallet));
  assert.equal(await one.ok('GET', `/feed?after_position=${written}`), {
    items: [],
    next_position: written,
    has_more: false,
  });
});

/** The examples as readers of the documentation would start them. */
function startDownstream(tenant: TestTenant, file: string): ChildProcess {
  const example = resolve(import.meta.dirname, '../../../../docs/examples/downstream.ts');
  return spawn(process.execPath, [example, `${stack.baseUrl}/v1`, file], {
    env: { ...process.env, API_KEY: tenant.apiKey },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

interface Copy {
  readonly position: string;
  readonly wallets: Record<string, { readonly id: string; readonly credit_balance: string }>;
}

test('a downstream system that lists, follows and is killed ends with what the API has', async () => {
  const tenant = await stack.tenant('downstream');
  const file = join(folder, 'wallets.json');
  const copied = (): Copy | null =>
    existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  const wallets: string[] = [];
  for (let index = 0; index < 5; index += 1) wallets.push(await newWallet(tenant, `w${index}`));

  let writing = true;
  let written = 0;
  let newest = '0';
  const writer = (async () => {
    while (writing) {
      const wallet = wallets[written % wallets.length];
      written += 1;
      if (written % 7 === 0) wallets.push(await newWallet(tenant, `later${written}`));
      const debit = await tenant.call('POST', `/wallets/${wallet}/debit`, { credits: '1' });
      newest = debit.headers.get('counterfoil-position') ?? newest;
    }
  })();
  try {
    for (let life = 0; life < 3; life += 1) {
      const before = copied()?.position;
      const downstream = startDownstream(tenant, file);
      await eventually(() => {
        const copy = copied();
        return copy !== null && copy.position !== before;
      });
      downstream.kill('SIGKILL');
      await once(downstream, 'exit');
    }
  } finally {
    writing = false;
    await writer;
  }
  const last = startDownstream(tenant, file);
  try {
    // The truth is what the API shows once it has caught up with the last debit.
    const caughtUp = { 'counterfoil-min-position': newest };
    const shown = await tenant.ok('POST', '/wallets/search', { limit: 1000 }, caughtUp);
    assert.is(shown.items.length, wallets.length);
    const truth = Object.fromEntries(
      shown.items.map((wallet: { readonly id: string }) => [wallet.id, wallet]),
    );
    const wanted = JSON.stringify(sorted(truth));
    const same = await eventually(
      () => {
        const copy = copied();
        return copy !== null && JSON.stringify(sorted(copy.wallets)) === wanted && copy;
      },
      () => `at ${newest} the API has ${wanted}, and the copy is ${JSON.stringify(copied())}`,
    );
    assert.is(Object.keys(same.wallets).length, wallets.length);
  } finally {
    last.kill('SIGKILL');
    await once(last, 'exit');
  }
});

const sorted = (wallets: object = {}) =>
  Object.entries(wallets)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, wallet]) => Object.entries(wallet).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The statements of the recipe for warehouses, as the documentation has them. */
function recipe(): readonly [create: string, insert: string, move: string, view: string] {
  const page = resolve(import.meta.dirname, '../../../../docs/concepts/exports.md');
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```sql\n(.*?)```/gs)];
  const [create = '', write = '', view = ''] = blocks.map(([, sql]) => sql);
  const [insert = '', move = ''] = write.split(';');
  return [create, insert, move.replace('$2', '$1'), view];
}

test('a warehouse that follows the recipe has what the API has, also when pages come twice', async () => {
  const tenant = await stack.tenant('warehouse');
  const wallet = await newWallet(tenant, 'acme');
  await newWallet(tenant, 'globex');
  const { items: customers } = await tenant.ok('GET', '/customers');
  for (const name of ['Acme', 'Acme Limited']) {
    await tenant.ok('PUT', `/customers?id=${customers[0].id}`, { name });
  }
  const debit = await tenant.call('POST', `/wallets/${wallet}/debit`, { credits: '1' });
  const written = debit.headers.get('counterfoil-position') ?? '';
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  const [create, insert, move, view] = recipe();
  const ask = async <Row extends object>(sql: string, values: unknown[] = []) =>
    (await client.query<Row>(sql, values)).rows;
  try {
    await ask('create schema warehouse');
    await ask('set search_path to warehouse');
    await ask(create);
    await ask(view);
    await ask("insert into feed_place values ('0')");
    await eventually(async () => {
      const [place] = await ask<{ position: string }>('select position from feed_place');
      const page = await tenant.ok('GET', `/feed?limit=2&after_position=${place?.position}`);
      // The first time it is killed between the two.
      await ask(insert, [JSON.stringify(page.items)]);
      await ask(insert, [JSON.stringify(page.items)]);
      await ask(move, [page.next_position]);
      return BigInt(page.next_position) >= BigInt(written) && !page.has_more;
    });
    const shown = await ask<{ id: string; customer: { name: string } }>('select * from customer');
    const { items: truth } = await tenant.ok('GET', '/customers');
    assert.equal(
      shown.map(({ id, customer }) => `${id} ${customer.name}`).sort(),
      truth.map(({ id, name }: { id: string; name: string }) => `${id} ${name}`).sort(),
    );
    const entries = await ask<{ id: string }>(
      "select distinct data->'transaction'->>'id' as id from feed_event where resource_id = $1 and event_type = 'wallet.transaction.created'",
      [wallet],
    );
    const { items: ledger } = await tenant.ok('GET', `/wallets/${wallet}/transactions`);
    assert.equal(
      entries.map(({ id }) => id).sort(),
      ledger.map(({ id }: { id: string }) => id).sort(),
    );
  } finally {
    await ask('drop schema if exists warehouse cascade').catch(() => undefined);
    await client.end();
  }
});

test('every type that slices publish has its schema, and bodies are of that form', async () => {
  const tenant = await stack.tenant('feed-one');
  const { items } = await tenant.ok('GET', '/event-types');
  const types = eventTypesOf(
    modules({ secrets: null }).flatMap(({ publicEvents }) => publicEvents),
  );
  assert.is(items.length, types.size);
  for (const { event_type, data } of (await tenant.ok('GET', '/feed')).items) {
    const type = types.get(event_type);
    assert.ok(type, `${event_type} is declared`);
    const { event_type: named, ...body } = data;
    assert.is(named, event_type);
    const { error } = type.body.strict().safeParse(body);
    assert.is(error, undefined, `${event_type}: ${error}`);
  }
});

test.run();
