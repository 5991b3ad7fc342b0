import { verifyLedger } from '@counterfoil/cli/verify-ledger';
import type { HoldId, TransactionId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  changeSettings,
  debitCredits,
  loadCredits,
  settleDue,
  terminateWallet,
} from '../../../modules/src/wallets/decisions.ts';
import { holdCredits } from '../../../modules/src/wallets/holds/decisions.ts';
import {
  cancelTopUp,
  completeTopUp,
  requestTopUp,
} from '../../../modules/src/wallets/topups/decisions.ts';
import { creation, details, ledgerWorld, load, second, text } from './ledger-world.ts';
import { rechained } from './tampering.ts';

const test = suite('tampering with top-ups and with instants');

const id = 'wallet_01';
const auto_topup = { enabled: true, threshold: '20', amount: '30', invoicing: true };

const order = (name: string, credits: string, expires: number | null = null) =>
  requestTopUp(
    id,
    load(credits, {
      ...details('PURCHASED_CREDIT_INVOICED'),
      expiresAt: expires === null ? null : second(expires),
    }),
    `wtxn_${name}` as TransactionId,
  );

async function finding(changed: readonly string[]) {
  try {
    return await verifyLedger(changed);
  } catch (error) {
    return (error as Error).message;
  }
}

let lines: string[];

test.before(async () => {
  const world = ledgerWorld();
  await world.run(id, creation(id));
  await world.run(id, loadCredits(id, [load('100')]));
  await world.run(id, order('a', '50'));
  await world.run(id, completeTopUp(id, 'wtxn_a'));
  await world.run(id, order('b', '20', 20));
  await world.run(id, order('c', '7'));
  await world.run(id, cancelTopUp(id, 'wtxn_c'));
  await world.run(id, changeSettings(id, { auto_topup: auto_topup as never }));
  await world.run(id, debitCredits(id, { ...details(), credits: text('140') }));
  world.clock.seconds = 30;
  await world.run(id, settleDue(id));
  await world.run(id, terminateWallet(id, details()));
  lines = await world.exported(id);
});

test('the untouched ledger is accepted', async () => {
  assert.equal(
    lines.slice(1, -1).map((line) => JSON.parse(line).type),
    [
      'WalletCreated',
      'CreditsLoaded',
      'TopUpRequested',
      'CreditsLoaded',
      'TopUpRequested',
      'TopUpRequested',
      'TopUpFailed',
      'WalletSettingsChanged',
      'CreditsDebited',
      'TopUpRequested',
      'TopUpFailed',
      'TopUpFailed',
      'CreditsDebited',
      'WalletClosed',
    ],
  );
  assert.match(await finding(lines), /: 14 events, credit balance 0, unsigned$/);
});

for (const [what, number, change, named] of [
  ['the credits of an order', 3, { credits: '51' }, /^line 4: revision 2: amount is not credits/],
  ['the balance beside it', 3, { credit_balance: '1' }, /^line 4: revision 2: wrong balance/],
  ['the rate of an order', 3, { topup_conversion_rate: '2' }, /^line 4: revision 2: topup_conv/],
  [
    'its description',
    3,
    { description: 'x' },
    /^line 5: revision 3: is not the top-up that was asked/,
  ],
  [
    'when it was asked for',
    4,
    { requested: { at: second(1), by: 'system' } },
    /^line 5: revision 3: ends a top-up that does not wait/,
  ],
  [
    'that it was asked for',
    4,
    { requested: undefined },
    /^line 5: revision 3: loads what waits for its payment/,
  ],
  [
    'which one is completed',
    4,
    { transaction_id: 'wtxn_b' },
    /^line 5: revision 3: ends a top-up that does not wait/,
  ],
  ['which one is ordered', 6, { transaction_id: 'wtxn_b' }, /^line 7: revision 5: asks for a top/],
  ['an expiry in the past', 6, { expires_at: second(2) }, /^line 7: revision 5: loads what has ex/],
  ['why it failed', 7, { cause: 'expired' }, /^line 8: revision 6: does not end its top-up/],
  ['when it failed', 7, { failed_at: second(6) }, /^line 8: revision 6: does not end its top-up/],
  ['when it expired', 11, { failed_at: second(31) }, /^line 12: revision 10: does not end its top/],
  [
    'that it expired',
    11,
    { cause: 'cancelled', failed_at: second(31) },
    /^line 12: revision 10: does not end its top-up/,
  ],
] as const) {
  test(`${what}, changed and chained again, does not add up`, async () => {
    const forged = rechained(lines, number, (data) =>
      JSON.parse(JSON.stringify({ ...data, ...change })),
    );
    assert.match(await finding(forged), named);
  });
}

test('a second automatic order while one waits is named', async () => {
  const automatic = { cause: 'change', cause_id: 'wtxn_x', day: '2026-01-01', number: 1 };
  const twice = rechained(
    rechained(lines, 5, (data) => ({ ...data, automatic })),
    6,
    (data) => ({ ...data, automatic }),
  );
  assert.match(await finding(twice), /^line 7: revision 5: asks for a top-up twice/);
});

test('a wallet that is closed while a top-up waits is named', async () => {
  const closed = rechained(lines, 11, () => ({}), { type: 'AlertStateChanged' });
  assert.match(await finding(closed), /^line 15: revision 13: closes a wallet that is not empty/);
});

/** Ten credits until second 5, four of them held until second 8; booked at second 21. */
async function lateReturn(): Promise<string[]> {
  const world = ledgerWorld();
  await world.run(id, creation(id));
  await world.run(id, loadCredits(id, [load('10', { expiresAt: second(5) })]));
  const hold = { holdId: 'hold_a' as HoldId, credits: text('4'), expiresAt: second(8) };
  await world.run(id, holdCredits(id, { ...hold, description: null, metadata: {} }));
  world.clock.seconds = 20;
  await world.run(id, settleDue(id));
  return world.exported(id);
}

test('what came back too late expired when it came back, and not before', async () => {
  const honest = await lateReturn();
  assert.match(await finding(honest), /: 6 events, credit balance 0, unsigned$/);
  for (const [number, change, named] of [
    [6, { effective_at: second(5) }, /^line 7: revision 5: took effect before what it follows/],
    [6, { effective_at: second(9) }, /^line 7: revision 5: the lot has not expired then/],
    [4, { effective_at: second(8) }, /^line 5: revision 3: the lot has not expired then/],
    [5, { released_at: second(5) }, /^line 6: revision 4: does not end its hold/],
  ] as const) {
    const forged = rechained(honest, number, (data) => ({ ...data, ...change }));
    assert.match(await finding(forged), named);
  }
});

/** Ten credits, and ten more from second 5 on; second 9 records what was debited at second 2. */
async function datedBack(wallet_type: string): Promise<string[]> {
  const world = ledgerWorld();
  await world.run(id, creation(id, { wallet_type }));
  await world.run(id, loadCredits(id, [load('10')]));
  world.clock.seconds = 4;
  await world.run(id, loadCredits(id, [load('10', { priority: 1 })]));
  world.clock.seconds = 8;
  const debit = { ...details(), credits: text('8'), effectiveAt: second(2) };
  await world.run(id, debitCredits(id, debit));
  return world.exported(id);
}

test('a debit that is dated back draws what was there then, and nothing that came later', async () => {
  for (const type of ['PRE_PAID', 'POST_PAID']) {
    const honest = await datedBack(type);
    assert.match(await finding(honest), /: 4 events, credit balance 12, unsigned$/);
    for (const [change, named] of [
      [{ effective_at: second(5) }, /^line 5: revision 3: lots: /],
      [{ effective_at: second(10) }, /^line 5: revision 3: counts from an instant/],
      [{ effective_at: second(-1) }, /^line 5: revision 3: counts from an instant/],
    ] as const) {
      const forged = rechained(honest, 4, (data) => ({ ...data, ...change }));
      assert.match(await finding(forged), named);
    }
  }
});

/** Ten credits of which four are held; a debit of nine that may be partial takes the others. */
async function takenInPart(wallet_type: string, isPartialAllowed: boolean): Promise<string[]> {
  const world = ledgerWorld();
  await world.run(id, creation(id, { wallet_type }));
  await world.run(id, loadCredits(id, [load('10')]));
  const hold = { holdId: 'hold_a' as HoldId, credits: text('4'), expiresAt: null };
  await world.run(id, holdCredits(id, { ...hold, description: null, metadata: {} }));
  const credits = text(isPartialAllowed ? '9' : '5');
  await world.run(id, debitCredits(id, { ...details(), credits, isPartialAllowed }));
  return world.exported(id);
}

test('a debit takes less than was asked for only where nothing is left for it', async () => {
  const honest = await takenInPart('PRE_PAID', true);
  assert.match(await finding(honest), /: 4 events, credit balance 4, unsigned$/);
  const more = rechained(honest, 4, (data) => ({ ...data, credits_requested: '5' }));
  assert.match(await finding(more), /^line 5: revision 3: takes more than was asked for/);
  for (const [type, named] of [
    ['PRE_PAID', /takes less than was asked for, and leaves some of it/],
    ['POST_PAID', /or is partial although the wallet may owe/],
  ] as const) {
    const whole = await takenInPart(type, false);
    const forged = rechained(whole, 4, (data) => ({ ...data, credits_requested: '6' }));
    assert.match(await finding(forged), named);
  }
});

test('an order cannot count from before its payment', async () => {
  const world = ledgerWorld();
  await world.run(id, creation(id));
  const order = load('5', details('PURCHASED_CREDIT_INVOICED'));
  await world.run(id, requestTopUp(id, order, 'wtxn_a' as TransactionId));
  await world.run(id, completeTopUp(id, 'wtxn_a'));
  const honest = await world.exported(id);
  const early = rechained(honest, 3, (data) => ({ ...data, effective_at: second(1) }));
  assert.match(await finding(early), /^line 4: revision 2: counts from an instant/);
});

test('a hold that is booked before a lot that had expired by then is named', async () => {
  const honest = await lateReturn();
  const [expired, released] = [honest[4] ?? '', honest[5] ?? ''].map((line) => JSON.parse(line));
  const data = { ...released.data, returned: [{ ...released.data.returned[0], remaining: '10' }] };
  const forged = rechained(
    rechained(honest, 4, () => data, { type: released.type }),
    5,
    () => expired.data,
    { type: expired.type },
  );
  assert.match(await finding(forged), /^line 5: revision 3: lot wtxn_\w+ has expired and was not/);
});

test.run();
