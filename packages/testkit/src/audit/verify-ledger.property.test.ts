import { verifyLedger } from '@counterfoil/cli/verify-ledger';
import type { HoldId } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { moveInBulk } from '../../../modules/src/wallets/bulk.ts';
import {
  debitCredits,
  freezeWallet,
  loadCredits,
  settleDue,
  terminateWallet,
  unfreezeWallet,
  type WalletDecision,
} from '../../../modules/src/wallets/decisions.ts';
import { captureHold, holdCredits, voidHold } from '../../../modules/src/wallets/hold-decisions.ts';
import type { Wallet } from '../../../modules/src/wallets/wallet.ts';
import { wallet } from '../../../modules/src/wallets/wallet.ts';
import {
  creation,
  details,
  environmentId,
  ledgerWorld,
  load,
  second,
  text,
} from './ledger-world.ts';

const test = suite('verify-ledger against the production code');

const id = 'wallet_01';
type Command = (now: number) => WalletDecision;

const credits = fc.constantFrom(
  '1',
  '2.5',
  '0.000000006',
  '0.00000001',
  '7',
  '33.333333333',
  '100',
);
const seconds = fc.option(fc.constantFrom(2, 7), { freq: 1 });
const soon = (now: number, after: number | null) => (after === null ? null : second(now + after));
/** Holds are named by the second in which they are made; others refer to one of the last. */
const holdAt = (now: number): HoldId => `hold_${now}` as HoldId;
const age = fc.integer({ min: 1, max: 5 });

const anyLoad = fc.record({
  quantity: fc.oneof(
    credits.map((value) => ({ credits: text(value) })),
    credits.map((value) => ({ amount: text(value) })),
  ),
  priority: fc.option(fc.constantFrom(0, 1), { freq: 1 }),
  reason: fc.constantFrom('FREE_CREDIT_GRANT' as const, 'PURCHASED_CREDIT_DIRECT' as const),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(anyLoad, seconds).map(
      ([given, after]): Command =>
        (now) =>
          loadCredits(id, [load('0', { ...given, expiresAt: soon(now, after) })]),
    ),
  },
  {
    weight: 4,
    arbitrary: credits.map(
      (value): Command =>
        () =>
          debitCredits(id, { ...details(), credits: text(value) }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(credits, seconds).map(
      ([value, after]): Command =>
        (now) =>
          holdCredits(id, {
            holdId: holdAt(now),
            credits: text(value),
            expiresAt: soon(now, after),
            description: null,
            metadata: {},
          }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(age, fc.option(credits)).map(
      ([ago, value]): Command =>
        (now) =>
          captureHold(id, holdAt(now - ago), value === null ? null : text(value), details()),
    ),
  },
  age.map(
    (ago): Command =>
      (now) =>
        voidHold(id, holdAt(now - ago)),
  ),
  fc.constantFrom<Command>(
    () => freezeWallet(id),
    () => unfreezeWallet(id),
    () => unfreezeWallet(id),
    () => settleDue(id),
    () => settleDue(id),
    () => settleDue(id),
    () => terminateWallet(id, details()),
  ),
  fc.tuple(credits, credits).map(
    ([one, other]): Command =>
      () =>
        moveInBulk(
          id,
          [
            { type: 'credit', load: load(one) },
            { type: 'debit', debit: { ...details(), credits: text(other) } },
          ],
          false,
        ),
  ),
);

test('every history that the service writes is accepted, with the balance it has', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        wallet_type: fc.constantFrom('PRE_PAID', 'POST_PAID'),
        topup_conversion_rate: fc.constantFrom('3', '4'),
      }),
      fc.array(command, { maxLength: 25 }),
      async (overrides, commands) => {
        const world = ledgerWorld();
        await world.run(id, creation(id, overrides));
        for (const make of commands) {
          await world.run(id, make(world.clock.seconds));
        }
        const { state } = await world.streams
          .writer<Wallet | null>(wallet, environmentId, id)
          .current();
        const summary = await verifyLedger(await world.exported(id));
        assert.match(summary, `credit balance ${state?.credit_balance},`);
      },
    ),
    { numRuns: 200 },
  ));

test.run();
