import { ledgerLines } from '@counterfoil/cli/export';
import { verifyLedger } from '@counterfoil/cli/verify-ledger';
import { type Instant, Problem, type WalletId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { paidWorld } from '../../../modules/src/test-paid-world.ts';
import { wallet as walletAggregate } from '../../../modules/src/wallets/index.ts';
import { testPrincipal } from '../principal.ts';
import { ledgerFaults } from './audit.ts';
import { historyOf } from './history.ts';

const test = suite('bonuses of purchases');

/** From fifty credits on a tenth more, for thirty days. */
const slabs = [{ threshold: '50', type: 'percentage', value: '10', expiry_days: 30 }];
const key = 'bonus_credits_topup_config';

/** A customer with a wallet; a credit costs two dollars. */
async function bonusWorld(body: object = {}) {
  const world = await paidWorld();
  const { call, settle, pay } = world;
  const set = (value: object) => call(`PUT /settings/${key}`, { body: { value } });
  await set({ enabled: true, slabs });
  const walletId = await world.wallet('0', { topup_conversion_rate: '2', ...body });
  const lots = async () => {
    const state = await world.request().load(walletAggregate, walletId);
    return state?.lots.map((lot) => `${lot.class} ${lot.remaining}`);
  };
  const debit = (credits: string) =>
    call('POST /wallets/{id}/debit', {
      params: { id: walletId },
      key: `debit ${credits}`,
      body: { credits, transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: credits },
    });
  const order = async (credits = '50') => {
    const answer = (await call('POST /wallets/{id}/top-up', {
      params: { id: walletId },
      body: { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: credits },
    })) as unknown as { readonly invoice_id: string };
    await settle();
    return answer.invoice_id;
  };
  const bought = async (credits = '50', amount = '100') => {
    const invoiceId = await order(credits);
    const { id: paymentId } = await pay(invoiceId, amount);
    await settle();
    return { invoiceId, paymentId };
  };
  const refund = async (id: string, body: object = { payment_status: 'REFUNDED' }) => {
    await call('PUT /payments/{id}', { params: { id }, body });
    await settle();
    await settle(world.another());
  };
  /** The ledger is sound by every check, and by the program that stands alone. */
  const sound = async () => {
    const { store } = world.world;
    const { environmentId } = testPrincipal();
    const stream = `wallet-${environmentId}.${walletId}`;
    assert.equal(ledgerFaults(await historyOf(store.readStream(stream))), []);
    const options = { walletId: walletId as WalletId, environmentId };
    return verifyLedger(ledgerLines(store, options));
  };
  const invoices = async () => {
    const { items } = (await call('GET /invoices', {})) as unknown as {
      readonly items: readonly { readonly id: string; readonly total: string }[];
    };
    return items;
  };
  return { ...world, walletId, set, lots, debit, order, bought, refund, sound, invoices };
}

const automatic = (more: object = {}) => ({
  auto_topup: { enabled: true, amount: 50, threshold: 5, invoicing: false, ...more },
});

test('a top-up that a wallet begins brings the bonus of the slab, once', async () => {
  const { settle, another, lots, sound, events, walletId } = await bonusWorld(automatic());
  await settle();
  await settle(another());
  assert.equal(await lots(), ['free 5', 'purchased 50']);
  await sound();
  assert.is(events(walletId).filter((type) => type === 'CreditsLoaded').length, 2);
});

test('one that waits for its payment brings the bonus that it was ordered with, however often that is tried', async () => {
  const made = await bonusWorld(automatic({ invoicing: true }));
  const { world, settle, another, lots, set, pay, call, invoices, sound } = made;
  await settle();
  assert.equal(await lots(), []);
  world.now = '2026-01-01T00:00:01.000Z' as Instant;
  await set({ slabs: [{ ...slabs[0], value: '90' }] });
  const [invoice] = await invoices();
  const id = invoice?.id ?? '';
  const tell = (payment_status: string) =>
    call('PUT /invoices/{id}/payment', { params: { id }, body: { payment_status } });
  await tell('PROCESSING');
  await tell('FAILED');
  await settle();
  await pay(id, '100', {}, 'one');
  await pay(id, '100', {}, 'one', another());
  await settle();
  await settle(another());
  assert.equal(await lots(), ['free 5', 'purchased 50']);
  await sound();
});

test('wherever the process dies, an automatic top-up brings one bonus', async () => {
  for (let last = 1, isWhole = false; !isWhole; last += 1) {
    const { world, settle, another, pay, invoices, lots, sound } = await bonusWorld(
      automatic({ invoicing: true }),
    );
    await settle();
    const [invoice] = await invoices();
    let appended = 0;
    world.store.fate = () => {
      appended += 1;
      return appended >= last ? 'unavailable' : 'written';
    };
    await pay(invoice?.id ?? '', '100', {}, 'one').catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
    await settle();
    isWhole = appended < last;
    world.store.fate = () => 'written';
    await settle(another());
    await pay(invoice?.id ?? '', '100', {}, 'one', another());
    await settle(another());
    assert.equal(await lots(), ['free 5', 'purchased 50'], `append ${last}`);
    await sound();
  }
});

test('a bonus is no occasion for another top-up, and one that is switched off brings none', async () => {
  const { settle, lots } = await bonusWorld(automatic({ threshold: 500 }));
  await settle();
  assert.equal(await lots(), ['free 5', 'purchased 50']);
  const off = await bonusWorld();
  await off.set({ enabled: false });
  await off.call('PUT /wallets/{id}', { params: { id: off.walletId }, body: automatic() });
  await off.settle();
  assert.equal(await off.lots(), ['purchased 50']);
});

/** Credits that are spent, what goes back of a hundred dollars, and the lots then. */
const refunds: readonly (readonly [spent: string, refunded: string, left: readonly string[]])[] = [
  ['0', '100', ['purchased 50']],
  ['0', '50', ['free 2.5', 'purchased 50']],
  ['0', '33.33', ['free 3.3335', 'purchased 50']],
  // Free credits are spent first.
  ['2', '100', ['purchased 50']],
  ['2', '50', ['free 0.5', 'purchased 50']],
  ['4', '50', ['purchased 50']],
  ['5', '100', ['purchased 50']],
  ['30', '100', ['purchased 25']],
];

for (const [spent, refunded, left] of refunds) {
  test(`of a bonus of 5, with ${spent} spent, a refund of ${refunded} leaves ${left}`, async () => {
    const { bought, debit, refund, lots, sound, balance, walletId } = await bonusWorld();
    const { paymentId } = await bought();
    if (spent !== '0') await debit(spent);
    await refund(
      paymentId,
      refunded === '100'
        ? { payment_status: 'REFUNDED' }
        : { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: refunded },
    );
    assert.equal(await lots(), left);
    assert.match(await sound(), `credit balance ${await balance(walletId)},`);
  });
}

test('refunds in parts take back as much as one of all', async () => {
  const { bought, refund, lots, sound } = await bonusWorld();
  const { paymentId } = await bought();
  const shown: unknown[] = [];
  for (const refunded_amount of ['10', '33.33', '66.67']) {
    await refund(paymentId, { payment_status: 'PARTIALLY_REFUNDED', refunded_amount });
    shown.push((await lots())?.[0]);
  }
  await refund(paymentId);
  assert.equal(shown, ['free 4.5', 'free 3.3335', 'free 1.6665']);
  assert.equal(await lots(), ['purchased 50']);
  await sound();
});

test('the bonus is there again once the price is paid again, and only then', async () => {
  const { bought, refund, pay, settle, another, lots, sound } = await bonusWorld();
  const { invoiceId, paymentId } = await bought();
  await refund(paymentId);
  await pay(invoiceId, '40');
  await settle();
  assert.equal(await lots(), ['purchased 50']);
  const { id } = await pay(invoiceId, '60');
  await settle();
  await settle(another());
  assert.equal(await lots(), ['free 5', 'purchased 50']);
  await refund(id);
  assert.equal(await lots(), ['free 2', 'purchased 50']);
  await sound();
});

test('what is paid in part and goes back once more takes nothing twice', async () => {
  const { bought, refund, pay, settle, lots, sound } = await bonusWorld();
  const { invoiceId, paymentId } = await bought();
  await refund(paymentId, { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '50' });
  const { id } = await pay(invoiceId, '20');
  await settle();
  await refund(id);
  assert.equal(await lots(), ['free 2.5', 'purchased 50']);
  await refund(paymentId);
  assert.equal(await lots(), ['purchased 50']);
  await sound();
});

test('other credits stay, also those that would be drawn first', async () => {
  const { bought, call, refund, lots, sound, walletId } = await bonusWorld();
  const { invoiceId, paymentId } = await bought();
  await call('POST /wallets/{id}/top-up', {
    params: { id: walletId },
    body: { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '7', priority: 0 },
  });
  await refund(paymentId);
  assert.equal(await lots(), ['free 7', 'purchased 50']);
  await sound();
  const { items } = (await call('GET /wallets/{id}/transactions', {
    params: { id: walletId },
    query: { type: 'debit' },
  })) as unknown as { readonly items: readonly Readonly<Record<string, unknown>>[] };
  const [taken] = items;
  assert.equal(
    [taken?.transaction_reason, taken?.reference_type, taken?.reference_id, taken?.credit_amount],
    ['CREDIT_ADJUSTMENT', 'INVOICE', invoiceId, '5'],
  );
});

test('wherever the process dies, a refund takes the bonus back once', async () => {
  for (let last = 1, isWhole = false; !isWhole; last += 1) {
    const { world, bought, call, settle, another, lots, sound } = await bonusWorld();
    const { paymentId: id } = await bought();
    let appended = 0;
    world.store.fate = () => {
      appended += 1;
      return appended >= last ? 'unavailable' : 'written';
    };
    const body = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '50' };
    const put = (by = world) =>
      call('PUT /payments/{id}', { params: { id }, body, key: 'one', by });
    await put().catch((error: unknown) => assert.instance(error, Problem));
    await settle().catch((error: unknown) => assert.instance(error, Problem));
    isWhole = appended < last;
    world.store.fate = () => 'written';
    await settle(another());
    await put(another());
    await settle(another());
    assert.equal(await lots(), ['free 2.5', 'purchased 50'], `append ${last}`);
    await sound();
  }
});

test('what is paid and loaded is neither voided nor credited, so that its bonus stays with it', async () => {
  const { bought, makeVoid, credit, stateOf, lots, sound } = await bonusWorld();
  const { invoiceId } = await bought();
  const line = (await stateOf(invoiceId)).lines[0]?.id ?? '';
  for (const act of [() => makeVoid(invoiceId), () => credit(invoiceId, { [line]: '10' })]) {
    await act().then(
      () => assert.unreachable(),
      (error: unknown) => assert.is((error as Problem).details?.reason, 'not_creditable'),
    );
  }
  assert.equal(await lots(), ['free 5', 'purchased 50']);
  await sound();
});

test.run();
