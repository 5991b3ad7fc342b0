import { verifyLedger } from '@counterfoil/cli/verify-ledger';
import type { Currency, CustomerId, DebitId, WalletId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { DebitRequest } from '../../../modules/src/wallets/customer-debits/customer-debits.ts';
import {
  captureShare,
  giveUpShare,
  payOrHold,
} from '../../../modules/src/wallets/customer-debits/shares.ts';
import { freezeWallet, loadCredits } from '../../../modules/src/wallets/decisions.ts';
import { creation, ledgerWorld, load, second, text } from './ledger-world.ts';
import { rechained } from './tampering.ts';

const test = suite('the ledger of a wallet that debits of its customer have drawn');

const id = 'wallet_01' as WalletId;

const debitOf = (name: string): DebitRequest => ({
  debit_id: `debit_${name}` as DebitId,
  customer_id: 'cust_01' as CustomerId,
  currency: 'usd' as Currency,
  amount: text('100'),
  credits: null,
  wallets: [id],
  refilling: [],
  reason: 'MANUAL_BALANCE_DEBIT',
  description: null,
  idempotency_key: 'key',
  metadata: {},
});

/** Ten credits that a refused debit has held, and a debit that was taken in a wallet frozen meanwhile; then five. */
async function exported(): Promise<string[]> {
  const world = ledgerWorld();
  await world.run(id, creation(id));
  await world.run(id, loadCredits(id, [load('10')]));
  await world.run(id, payOrHold(id, debitOf('a'), text('100')));
  await world.run(id, giveUpShare(id, debitOf('a')));
  await world.run(id, payOrHold(id, debitOf('b'), text('2')));
  await world.run(id, payOrHold(id, debitOf('c'), text('100')));
  await world.run(id, freezeWallet(id));
  await world.run(id, captureShare(id, debitOf('c')));
  return world.exported(id);
}

async function finding(lines: readonly string[]): Promise<string> {
  try {
    return await verifyLedger(lines);
  } catch (error) {
    return (error as Error).message;
  }
}

test('an auditor accepts it, and finds what is not as the events before it say', async () => {
  const honest = await exported();
  assert.equal(
    honest.slice(1, -1).map((line) => JSON.parse(line).type),
    [
      'WalletCreated',
      'CreditsLoaded',
      'CreditsHeld',
      'HoldReleased',
      'CreditsDebited',
      'CreditsHeld',
      'WalletFrozen',
      'HoldCaptured',
    ],
  );
  assert.match(await finding(honest), /: 8 events, credit balance 0, unsigned$/);
  const kept = rechained(honest, 4, (data) => ({ ...data, returned: [] }));
  assert.match(await finding(kept), /^line 5: revision 3: lots: /);
  const more = rechained(honest, 8, (data) => ({ ...data, credits: '7', amount: '3.5' }));
  assert.match(await finding(more), /^line 9: revision 7: /);
});

test('an auditor accepts debits that are dated back, and finds one that takes or says what it cannot', async () => {
  const world = ledgerWorld();
  const dated = { ...debitOf('a'), effective_at: second(3) };
  const early = { ...debitOf('b'), effective_at: second(3) };
  await world.run(id, creation(id));
  await world.run(id, loadCredits(id, [load('10')]));
  world.clock.seconds = 9;
  await world.run(id, loadCredits(id, [load('5')]));
  await world.run(id, payOrHold(id, early, text('100')));
  await world.run(id, giveUpShare(id, early));
  await world.run(id, payOrHold(id, dated, text('100')));
  await world.run(id, captureShare(id, dated));
  const honest = await world.exported(id);
  const types = ['CreditsHeld', 'HoldReleased', 'CreditsHeld', 'HoldCaptured'];
  assert.equal(
    honest.slice(4, -1).map((line) => JSON.parse(line).type),
    types,
  );
  assert.match(await finding(honest), /: 7 events, credit balance 5, unsigned$/);
  const counts = 'counts from another instant than its hold was made for';
  const faults = [
    [7, { effective_at: second(14) }, counts],
    [7, { effective_at: second(2) }, counts],
    [6, { debit_effective_at: undefined }, counts],
    [6, { debit_effective_at: second(0) }, 'cannot count from'],
    [6, { debit_effective_at: second(99) }, 'cannot count from'],
    [6, { credits: '11' }, 'takes what was not there at its instant'],
  ] as const;
  for (const [line, change, says] of faults) {
    const forged = rechained(honest, line, (data) => ({ ...data, ...change }));
    assert.match(await finding(forged), new RegExp(says), JSON.stringify(change));
  }
});

test.run();
