import { verify } from '@counterfoil/cli/verify';
import { createStreams, systemContext } from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadCredits } from '../../../modules/src/wallets/decisions.ts';
import { wallet } from '../../../modules/src/wallets/wallet.ts';
import type { Answer } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Delivery, type Sink, startSink } from '../sink.ts';
import { type PartName, type Stack, startStack, type TestTenant } from '../stack.ts';
import { type Acknowledged, acknowledged, insist, type Movement, send } from './movements.ts';
import { openings } from './openings.ts';
import { assertNothingIsLost } from './truth.ts';

const test = suite('outages of single parts');

let stack: Stack;
let tenant: TestTenant;
let sink: Sink;
let customerId: string;
let walletId: string;
/** While true the receiver of webhooks answers that it cannot take them. */
let isRefusing = false;
/** Ids of the ledger entries that the receiver has taken. */
const taken = new Set<string>();
const confirmed: Acknowledged[] = [];
const opened = openings();

test.before(async () => {
  const retryLadder = Array.from({ length: 40 }, () => 250);
  stack = opened.add(await startStack({ retryLadder }), (one) => one.stop());
  const receive = ({ body }: Delivery): number => {
    if (isRefusing) return 500;
    taken.add(JSON.parse(body).transaction?.id);
    return 200;
  };
  sink = opened.add(await startSink(receive), (one) => one.close());
  tenant = await stack.tenant('outages');
  await tenant.ok('POST', '/webhooks/endpoints', { url: sink.url });
  const customer = await tenant.ok('POST', '/customers', { external_id: 'acme', name: 'Acme' });
  customerId = customer.id;
  walletId = await openWallet('usd');
});
test.after(opened.closeAll);

const openWallet = async (currency: string): Promise<string> => {
  const body = { customer_id: customerId, currency, initial_credits_to_load: '1000000' };
  return (await tenant.ok('POST', '/wallets', body)).id;
};

/** Does something while a part is away. */
async function without(name: PartName, work: () => Promise<void>): Promise<void> {
  await stack.parts[name].stop();
  try {
    await work();
  } finally {
    await stack.parts[name].start();
  }
}

let keys = 0;
const nextDebit = (): Movement => {
  keys += 1;
  return { walletId, kind: 'debit', credits: String(keys), key: `debit-${keys}` };
};

/** A debit that must succeed at the first attempt. */
async function debit(): Promise<Acknowledged> {
  const movement = nextDebit();
  const answer = await send(tenant, movement);
  assert.is(answer.status, 200, answer.text);
  const entry = acknowledged(movement, answer);
  confirmed.push(entry);
  return entry;
}

const readAt = (path: string, { position }: Acknowledged): Promise<Answer> =>
  tenant.call('GET', path, undefined, { 'counterfoil-min-position': String(position) });

const shows = (entry: Acknowledged): Promise<boolean> =>
  eventually(
    async () => (await readAt(`/wallets/${walletId}`, entry)).status === 200,
    () => `no read model at position ${entry.position}`,
  );

const receives = (id: string): Promise<boolean> =>
  eventually(
    () => taken.has(id),
    () => `no webhook for ${id}`,
  );

/** A write goes all the way: to the read model, to NATS and to the receiver. */
async function assertAllFlows(): Promise<void> {
  const entry = await debit();
  await shows(entry);
  await receives(entry.entry.id);
}

function assertUnavailable(answer: Answer): void {
  assert.is(answer.status, 503, answer.text);
  assert.is(answer.body.code, 'service_unavailable');
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

test('with the API away, the projector, the relay and the webhooks go on', async () => {
  const id = await openWallet('eur');
  const aggregates = modules({ secrets: null }).flatMap((slice) => slice.aggregates);
  const context = systemContext(createStreams({ store: stack.store, aggregates }), {
    ...tenant,
    correlationId: 'operator',
  });
  let booked = '';
  await without('api', async () => {
    await fetch(stack.baseUrl).then(
      () => assert.unreachable('the API is away'),
      () => undefined,
    );
    const { events } = await context.execute(wallet, id, loadCredits(id, [grant]));
    const [event] = events;
    booked = event?.type === 'CreditsLoaded' ? event.data.transaction_id : '';
    // The relay publishes what the projector has taken, and the worker delivers what it publishes.
    await receives(booked);
  });
  const page = await tenant.ok('GET', `/wallets/${id}/transactions?id=${booked}`);
  assert.is(page.items[0].credit_balance_after, '1000005');
  await assertAllFlows();
});

const grant = {
  quantity: { credits: '5' },
  reason: 'FREE_CREDIT_GRANT',
  referenceType: null,
  referenceId: null,
  description: null,
  idempotencyKey: null,
  metadata: {},
  priority: null,
  expiresAt: null,
} as unknown as Parameters<typeof loadCredits>[1][number];

test('with the projector away, writes go on and reads say how far behind they are', async () => {
  const before = await debit();
  await shows(before);
  await without('projector', async () => {
    const latest = await debit();
    const read = await tenant.call('GET', `/wallets/${walletId}`);
    assert.is(read.status, 200);
    assert.is(read.body.credit_balance, before.entry.credit_balance_after);
    assert.ok(Number(read.headers.get('counterfoil-lag-ms')) > 0, 'it says how far behind it is');
    assertUnavailable(await readAt(`/wallets/${walletId}`, latest));
    assert.is((await readAt(`/wallets/${walletId}`, before)).status, 200);
  });
  await assertAllFlows();
  const read = await tenant.call('GET', `/wallets/${walletId}`);
  assert.is(read.headers.get('counterfoil-lag-ms'), null);
});

test('with NATS away, everything but publishing goes on, and publishing catches up', async () => {
  isRefusing = true;
  const queued = await debit();
  const isOf = (body: string): boolean => JSON.parse(body).transaction?.id === queued.entry.id;
  await eventually(() => sink.deliveries.some(({ body }) => isOf(body)));
  let unpublished = queued;
  await without('nats', async () => {
    unpublished = await debit();
    await shows(unpublished);
    isRefusing = false;
    await receives(queued.entry.id);
    assert.not(taken.has(unpublished.entry.id), 'nothing is published past NATS');
  });
  await receives(unpublished.entry.id);
  await assertAllFlows();
});

test('with the event store away, writes are refused, and take effect once when repeated', async () => {
  const before = await debit();
  await shows(before);
  const movements = Array.from({ length: 5 }, nextDebit);
  const customer = { external_id: 'refused', name: 'Refused' };
  const create = () =>
    tenant.call('POST', '/customers', customer, { 'idempotency-key': 'refused-customer' });
  const open = () => {
    const body = { customer_id: customerId, currency: 'chf', initial_credits_to_load: '1' };
    return tenant.call('POST', '/wallets', body, { 'idempotency-key': 'refused-wallet' });
  };
  await without('eventStore', async () => {
    for (const movement of movements) assertUnavailable(await send(tenant, movement));
    assertUnavailable(await create());
    assertUnavailable(await open());
    const read = await tenant.call('GET', `/wallets/${walletId}`);
    assert.is(read.status, 200);
    assert.is(read.body.credit_balance, before.entry.credit_balance_after);
  });
  for (const movement of movements) confirmed.push(await insist(tenant, movement));
  const [first] = movements;
  const again = await send(tenant, first ?? nextDebit());
  assert.is(again.headers.get('idempotency-replayed'), 'true');
  for (const write of [create, open]) {
    const created = await write();
    assert.ok(created.status < 300, created.text);
    assert.is((await write()).text, created.text);
  }
  await assertAllFlows();
});

test('when the event store goes away under load, each write has happened once or not at all', async () => {
  const sent: { movement: Movement; answer: Answer }[] = [];
  const work = async (): Promise<void> => {
    for (let status = 200; status === 200; ) {
      const movement = nextDebit();
      const answer = await send(tenant, movement);
      sent.push({ movement, answer });
      status = answer.status;
    }
  };
  const working = Promise.all(Array.from({ length: 8 }, work));
  await eventually(() => sent.length >= 40);
  await without('eventStore', async () => void (await working));
  for (const { movement, answer } of sent) {
    if (answer.status !== 200) assertUnavailable(answer);
    const final = await insist(tenant, movement);
    confirmed.push(final);
    if (answer.status === 200) assert.equal(final.entry, answer.body.wallet_transaction);
  }
  await assertAllFlows();
});

test('with Postgres away, writes are answered and reads refused, and all catches up', async () => {
  await without('postgres', async () => {
    await debit();
    const customer = { external_id: 'unread', name: 'Unread' };
    assert.is((await tenant.call('POST', '/customers', customer)).status, 201);
    await openWallet('gbp');
    assertUnavailable(await tenant.call('GET', `/wallets/${walletId}`));
    assertUnavailable(await tenant.call('GET', '/customers'));
    await debit();
  });
  await assertAllFlows();
  const found = await tenant.ok('GET', '/customers/external/unread');
  assert.is(found.name, 'Unread');
});

test('after all of it nothing is lost, nothing is there twice, and all verifies', async () => {
  const known = {
    caller: tenant,
    natsUrl: stack.natsUrl,
    sink,
    walletIds: [walletId],
    acknowledged: confirmed,
  };
  await assertNothingIsLost(known);
  const lines: string[] = [];
  const isClean = await verify(stack, (line) => lines.push(line));
  assert.ok(isClean, lines.join('\n'));
});

test.run();
