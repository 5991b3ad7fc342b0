import { verifyLedger } from '@counterfoil/cli/verify-ledger';
import type { HoldId, Stamped, TransactionId } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { moveInBulk } from '../../../modules/src/wallets/bulk/bulk.ts';
import {
  changeSettings,
  debitCredits,
  freezeWallet,
  loadCredits,
  settleDue,
  terminateWallet,
  unfreezeWallet,
  type WalletDecision,
} from '../../../modules/src/wallets/decisions.ts';
import type { WalletEvent } from '../../../modules/src/wallets/events.ts';
import {
  captureHold,
  changeHold,
  holdCredits,
  voidHold,
} from '../../../modules/src/wallets/holds/decisions.ts';
import { reverseEntry } from '../../../modules/src/wallets/reversals/decisions.ts';
import { reversibleIn } from '../../../modules/src/wallets/test-wallet.ts';
import {
  cancelTopUp,
  completeTopUp,
  requestTopUp,
} from '../../../modules/src/wallets/topups/decisions.ts';
import { type Wallet, wallet } from '../../../modules/src/wallets/wallet.ts';
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
/** The act of a second on the wallet as it is. */
type Command = (now: number, state: Wallet, log: Log) => WalletDecision;
type Log = readonly Stamped<WalletEvent>[];

const credits = fc
  .constantFrom('1', '2.5', '0.000000006', '0.00000001', '7', '33.333333333', '100')
  .map(text);
const seconds = fc.option(fc.constantFrom(2, 4, 7), { freq: 3 });
const soon = (now: number, after: number | null) => (after === null ? null : second(now + after));
/** The place of an open thing, counted from the oldest; the last that is possible names none. */
const which = fc.nat({ max: 3 });
const openHold = ({ holds }: Wallet, index: number) =>
  holds[index % (holds.length + 1)]?.id ?? 'hold_none';

/** The end of an order of long ago: asked for once more, it leaves no event. */
const endedSo = (transaction_status: 'completed' | 'failed') =>
  ({ transaction_status, transaction_reason: 'PURCHASED_CREDIT_INVOICED' }) as const;

const openTopUp = ({ topups }: Wallet, index: number) =>
  topups[index % (topups.length + 1)]?.transaction_id ?? 'wtxn_none';

/** Amounts that can be paid in usd. */
const amounts = fc.constantFrom('1', '2.5', '0.03', '0.05', '7', '33.33', '100').map(text);
const quantity = fc.oneof(
  credits.map((value) => ({ credits: value })),
  amounts.map((amount) => ({ amount })),
);
/** Seconds by which an entry is dated back; null for one of now. */
const back = fc.option(fc.constantFrom(1, 3, 9), { freq: 3 });
const dated = (now: number, seconds: number | null) =>
  seconds === null ? {} : { effectiveAt: second(now - seconds) };
const anyLoad = fc.record({
  quantity,
  priority: fc.option(fc.constantFrom(0, 1), { freq: 2 }),
  reason: fc.constantFrom('FREE_CREDIT_GRANT' as const, 'PURCHASED_CREDIT_DIRECT' as const),
});

const commands = {
  load: fc.tuple(anyLoad, seconds, back).map(
    ([given, after, before]): Command =>
      (now) =>
        loadCredits(id, [
          load('0', { ...given, expiresAt: soon(now, after), ...dated(now, before) }),
        ]),
  ),
  order: fc.tuple(quantity, seconds).map(
    ([given, after]): Command =>
      (now) =>
        requestTopUp(
          id,
          load('0', {
            ...details('PURCHASED_CREDIT_INVOICED'),
            quantity: given,
            expiresAt: soon(now, after),
          }),
          `wtxn_${now}` as TransactionId,
        ),
  ),
  complete: which.map(
    (index): Command =>
      (_now, state) =>
        completeTopUp(id, openTopUp(state, index), endedSo('completed')),
  ),
  cancel: which.map(
    (index): Command =>
      (_now, state) =>
        cancelTopUp(id, openTopUp(state, index), endedSo('failed')),
  ),
  automatic: fc
    .record({
      enabled: fc.constant(true),
      amount: credits,
      threshold: credits,
      invoicing: fc.boolean(),
      daily_limit: fc.constantFrom(1, 2, 10),
    })
    .map(
      (auto_topup): Command =>
        () =>
          changeSettings(id, { auto_topup }),
    ),
  debit: fc.tuple(credits, back).map(
    ([value, before]): Command =>
      (now) =>
        debitCredits(id, { ...details(), credits: value, ...dated(now, before) }),
  ),
  hold: fc.tuple(credits, seconds).map(
    ([value, after]): Command =>
      (now) =>
        holdCredits(id, {
          holdId: `hold_${now}` as HoldId,
          credits: value,
          expiresAt: soon(now, after),
          description: null,
          metadata: {},
        }),
  ),
  capture: fc.tuple(which, fc.option(credits), fc.boolean()).map(
    ([index, value, isLast]): Command =>
      (_now, state) =>
        captureHold(id, openHold(state, index), value, details(), isLast),
  ),
  change: fc.tuple(which, fc.option(credits), seconds).map(
    ([index, value, after]): Command =>
      (now, state) =>
        changeHold(id, openHold(state, index), { credits: value, expiresAt: soon(now, after) }),
  ),
  void: which.map(
    (index): Command =>
      (_now, state) =>
        voidHold(id, openHold(state, index)),
  ),
  reverse: fc.tuple(which, fc.option(credits), seconds).map(
    ([back, value, after]): Command =>
      (now, _state, log) => {
        const entry = reversibleIn(log, back);
        if (!entry) return settleDue(id);
        const asked = { credits: value, expiresAt: soon(now, after) };
        return reverseEntry(id, entry, { ...details('CREDIT_ADJUSTMENT'), ...asked });
      },
  ),
  bulk: fc.tuple(credits, credits).map(
    ([one, other]): Command =>
      () =>
        moveInBulk(
          id,
          [
            { type: 'credit', load: load(one) },
            { type: 'debit', debit: { ...details(), credits: other } },
          ],
          false,
        ),
  ),
  other: fc.constantFrom<Command>(
    () => settleDue(id),
    () => settleDue(id),
    () => freezeWallet(id),
    () => unfreezeWallet(id),
    () => unfreezeWallet(id),
    () => unfreezeWallet(id),
  ),
};
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: commands.load },
  { weight: 2, arbitrary: commands.order },
  { weight: 2, arbitrary: commands.complete },
  { weight: 1, arbitrary: commands.cancel },
  { weight: 1, arbitrary: commands.automatic },
  { weight: 5, arbitrary: commands.debit },
  { weight: 4, arbitrary: commands.hold },
  { weight: 2, arbitrary: commands.capture },
  { weight: 3, arbitrary: commands.change },
  { weight: 2, arbitrary: commands.void },
  { weight: 3, arbitrary: commands.reverse },
  { weight: 1, arbitrary: commands.bulk },
  { weight: 2, arbitrary: commands.other },
);

/** The event of a line of an export; none for what the engine keeps of a request. */
function eventOf(line: string): Log {
  const { type, data, metadata } = JSON.parse(line);
  const stamp = { ...metadata, actor: { user_id: null, key_id: null } };
  return type in wallet.events ? [{ type, data, stamp }] : [];
}

const seen = new Set<string>();

test('every history that the service writes is accepted, with the balance it has', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        wallet_type: fc.constantFrom('PRE_PAID', 'POST_PAID'),
        topup_conversion_rate: fc.constantFrom('3', '20000000'),
      }),
      fc.array(command, { minLength: 20, maxLength: 40 }),
      async (overrides, list) => {
        const world = ledgerWorld();
        const current = async () =>
          (await world.streams.writer<Wallet>(wallet, environmentId, id).current()).state;
        await world.run(id, creation(id, overrides));
        for (const make of [...list, () => terminateWallet(id, details())]) {
          const log = (await world.exported(id)).slice(1, -1).flatMap(eventOf);
          await world.run(id, make(world.clock.seconds, await current(), log));
        }
        const lines = await world.exported(id);
        const { credit_balance } = await current();
        assert.match(await verifyLedger(lines), `credit balance ${credit_balance},`);
        for (const line of lines) seen.add(JSON.parse(line).type);
      },
    ),
    { numRuns: 150 },
  ));

test('every kind of event was among them', () => {
  const missing = Object.keys(wallet.events).filter((type) => !seen.has(type));
  const levels = ['AlertStateChanged', 'OngoingAlertStateChanged', 'FeatureAlertStateChanged'];
  assert.equal(missing, levels, 'which change no figure');
});

test.run();
