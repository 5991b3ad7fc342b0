import { verifyLedger } from '@counterfoil/cli/verify-ledger';
import type { HoldId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  debitCredits,
  freezeWallet,
  loadCredits,
  settleDue,
  unfreezeWallet,
} from '../../../modules/src/wallets/decisions.ts';
import { captureHold, holdCredits } from '../../../modules/src/wallets/holds/decisions.ts';
import {
  creation,
  details,
  type LedgerWorld,
  ledgerWorld,
  load,
  second,
  text,
} from './ledger-world.ts';
import { rechained, withLine } from './tampering.ts';

const test = suite('tampering with an exported ledger');

const id = 'wallet_01';
const holdId = 'hold_a' as HoldId;

let world: LedgerWorld;
let lines: string[];

test.before(async () => {
  world = ledgerWorld();
  await world.run(id, creation(id));
  await world.run(id, loadCredits(id, [load('100'), load('10', { expiresAt: second(8) })]));
  await world.run(id, debitCredits(id, { ...details(), credits: text('30') }));
  const hold = { holdId, credits: text('20'), expiresAt: null, description: 'é', metadata: {} };
  await world.run(id, holdCredits(id, hold));
  await world.run(id, captureHold(id, holdId, text('15'), details()));
  await world.run(id, loadCredits(id, [load('5', { expiresAt: second(8) })]));
  world.clock.seconds = 10;
  await world.run(id, settleDue(id));
  lines = await world.exported(id);
});

/** Returns what the verifier says about lines. */
async function finding(changed: readonly string[], key?: string, earlier?: string) {
  try {
    return await verifyLedger(changed, key, earlier);
  } catch (error) {
    return (error as Error).message;
  }
}

test('an untouched ledger is accepted', async () => {
  assert.is(await finding(lines), 'wallet-env_01.wallet_01: 8 events, credit balance 65, unsigned');
});

for (const [what, tamper, named] of [
  [
    'a changed byte',
    () => lines.with(4, (lines[4] ?? '').replace('"30"', '"31"')),
    /^line 5: revision 3: its content does not match its hash/,
  ],
  ['white space', () => lines.with(4, `${lines[4]} `), /^line 5: is not in canonical form/],
  [
    'a changed hash',
    () => lines.with(4, (lines[4] ?? '').replace(/"hash":"./, '"hash":"x')),
    /^line 5: revision 3: its content/,
  ],
  [
    'a dropped event',
    () => lines.toSpliced(4, 1),
    /^line 5: revision 3: is missing; the next event is 4/,
  ],
  [
    'an inserted event',
    () => lines.toSpliced(4, 0, lines[3] ?? ''),
    /^line 5: revision 3: is missing; the next event is 2/,
  ],
  [
    'swapped events',
    () => lines.with(4, lines[5] ?? '').with(5, lines[4] ?? ''),
    /^line 5: revision 3: is missing/,
  ],
  ['a lost end', () => lines.slice(0, 6), /^the export is cut off after revision 4/],
  ['a lost last event', () => lines.toSpliced(-2, 1), /^line 9: revision 6 is not the last/],
  [
    'an event after the end',
    () => [...lines, lines[2] ?? ''],
    /^line 11: revision 8: comes after the end/,
  ],
  [
    'a renumbered event',
    () => withLine(lines.toSpliced(4, 1), 4, (line) => ({ ...line, revision: 3 })),
    /^line 5: revision 3: its content .* or it does not follow/,
  ],
  ['no header', () => lines.slice(1), /^line 1: is no ledger/],
  [
    'an event of another wallet',
    () => withLine(lines, 0, (line) => ({ ...line, stream: 'wallet-env_01.wallet_02' })),
    /^line 2: revision 0: is of another stream/,
  ],
  ['no JSON', () => lines.with(3, '{'), /^line 4: /],
] as const) {
  test(`${what} is named`, async () => {
    assert.match(await finding(tamper()), named);
  });
}

for (const [what, number, change, named] of [
  [
    'credits of an entry',
    4,
    (data) => ({ ...data, credits: '31' }),
    /^line 5: revision 3: wrong balance after/,
  ],
  [
    'a balance',
    4,
    (data) => ({ ...data, credit_balance_after: '81' }),
    /^line 5: revision 3: wrong balance after/,
  ],
  ['an amount', 4, (data) => ({ ...data, amount: '14' }), /^line 5: revision 3: amount is not/],
  [
    'a rate',
    4,
    (data) => ({ ...data, conversion_rate: '1' }),
    /^line 5: revision 3: conversion_rate/,
  ],
  ['a number', 4, (data) => ({ ...data, sequence: 4 }), /^line 5: revision 3: is entry 4, not 3/],
  [
    'a draw',
    4,
    (data) => ({ ...data, drawn: (data.drawn as unknown as object[]).toReversed() }),
    /^line 5: revision 3: lots: /,
  ],
  [
    'what is available',
    3,
    (data) => ({ ...data, credits_available: '9' }),
    /^line 4: revision 2: wrong credits_available/,
  ],
  [
    'an expiry',
    3,
    (data) => ({ ...data, expires_at: second(3) }),
    /^line 5: revision 3: lot wtxn_\w+ has expired/,
  ],
  ['a priority', 2, (data) => ({ ...data, priority: 1 }), /^line 5: revision 3: lots: /],
  ['a hold', 5, (data) => ({ ...data, credits: '200' }), /^line 6: revision 4: lots: /],
  [
    'a captured hold',
    6,
    (data) => ({ ...data, hold_id: 'hold_b' }),
    /^line 7: revision 5: ends a hold that is not open/,
  ],
  ['what goes back', 6, (data) => ({ ...data, returned: [] }), /^line 7: revision 5: lots: /],
  [
    'the instant of an expiry',
    8,
    (data) => ({ ...data, effective_at: second(7) }),
    /^line 9: revision 7: the lot has not expired/,
  ],
  [
    'the form of a figure',
    4,
    (data) => ({ ...data, credits: '30.0' }),
    /^line 5: revision 3: credits is no decimal/,
  ],
] as const satisfies readonly (readonly [
  string,
  number,
  Parameters<typeof rechained>[2],
  RegExp,
])[]) {
  test(`${what}, changed and chained again, does not add up`, async () => {
    assert.match(await finding(rechained(lines, number, change)), named);
  });
}

const unchanged = (data: object): object => data;

test('an event that is dated before the one it follows is named', async () => {
  const forged = rechained(lines, 5, unchanged, { occurred_at: second(1) });
  assert.match(await finding(forged), /^line 6: revision 4: happened at .*, before the event/);
});

test('a capture of a hold that had expired is named', async () => {
  const forged = rechained(lines, 5, (data) => ({ ...data, expires_at: second(4) }));
  assert.match(await finding(forged), /^line 7: revision 5: does not end its hold at the right/);
});

test('a capture of more than was held is named', async () => {
  const forged = rechained(lines, 6, (data) => ({ ...data, credits: '21' }));
  assert.match(await finding(forged), /^line 7: revision 5: /);
});

test('credits of an amount that were rounded the wrong way are named', async () => {
  const bought = ledgerWorld();
  await bought.run(id, creation(id, { topup_conversion_rate: '4000000' }));
  const quantity = { amount: text('0.01') };
  await bought.run(id, loadCredits(id, [load('0', { quantity })]));
  const honest = await bought.exported(id);
  assert.match(await finding(honest), /credit balance 0.000000002,/);
  const credits = '0.000000003';
  const figures = { credits, credit_balance_after: credits, credits_available: credits };
  const forged = rechained(honest, 2, (data) => ({ ...data, ...figures }));
  assert.match(await finding(forged), /^line 3: revision 1: amount is not credits × rate/);
});

test('an event of an unknown type is named', async () => {
  const forged = rechained(lines, 4, unchanged, { type: 'CreditsVanished' });
  assert.match(await finding(forged), /^line 5: revision 3: is of an unknown type/);
});

test('a wallet that is closed with credits in it, or changed afterwards, is named', async () => {
  const closed = { type: 'WalletClosed' };
  assert.match(await finding(rechained(lines, 4, unchanged, closed)), /not empty/);
  const empty = ledgerWorld();
  await empty.run(id, creation(id));
  await empty.run(id, freezeWallet(id));
  await empty.run(id, unfreezeWallet(id));
  const forged = rechained(await empty.exported(id), 2, unchanged, closed);
  assert.match(await finding(forged), /^line 4: revision 2: changes a closed wallet/);
});

test.run();
