import type { DecimalText } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { changeSetting, setting } from '../../settings/index.ts';
import { walletWorld } from '../test-wallet-world.ts';
import { type BonusSlabs, bonusFor } from './bonus.ts';

const test = suite('bonuses of purchases');

const slab = (threshold: string, type: 'flat' | 'percentage', value: string, days?: number) => ({
  ...{ threshold: threshold as DecimalText, value: value as DecimalText, type },
  expiry_days: days ?? null,
});

const slabs: BonusSlabs = [
  slab('1000', 'percentage', '10'),
  slab('5000', 'flat', '750'),
  slab('10', 'percentage', '0.00000001'),
];

/** Credits that are bought, and their bonus (E 18.4). */
const examples: readonly (readonly [bought: string, bonus: string | null])[] = [
  ['6000', '750'],
  ['5000', '750'],
  ['4999.999999999', '500'],
  ['3000', '300'],
  ['1000', '100'],
  ['999.999999999', '0.0000001'],
  ['12.5', '0.000000001'],
  ['10', '0.000000001'],
  ['9.999999999', null],
];

for (const [bought, bonus] of examples) {
  test(`${bought} credits bring ${bonus ?? 'none'}`, () => {
    assert.is(bonusFor(slabs, bought as DecimalText)?.credits ?? null, bonus);
  });
}

test('a bonus that comes to nothing is none', () => {
  assert.is(bonusFor([slab('1', 'percentage', '0.000000001')], '1' as DecimalText), null);
});

/** A wallet with 100 credits, where a thousand bring a tenth more for thirty days. */
async function bonusWorld({ enabled = true } = {}, body: object = {}) {
  const world = await walletWorld(body);
  const set = (own: readonly ReturnType<typeof slab>[], isOn = true) =>
    world
      .request()
      .execute(
        setting,
        'bonus_credits_topup_config',
        changeSetting('bonus_credits_topup_config', { enabled: isOn, slabs: [...own] }),
      );
  await set([slab('1000', 'percentage', '10', 30)], enabled);
  const buy = (reason: string, more: object = {}, key?: string) =>
    world.topUp({ transaction_reason: reason, credits_to_add: '1000', ...more }, key);
  const shown = async () =>
    (await world.entries()).map((entry) => [
      entry.transaction_reason,
      entry.transaction_status,
      entry.credit_amount,
      entry.expiry_date ?? null,
      entry.metadata.bonus_of ?? null,
    ]);
  return { ...world, set, buy, shown };
}

test('a purchase that is paid brings its bonus as a lot of its own, which expires by its own rule', async () => {
  const { buy, shown, later, wallet } = await bonusWorld();
  const { wallet_transaction: bought } = await buy('PURCHASED_CREDIT_DIRECT');
  assert.is(bought.credit_amount, '1000');
  const bonus = (await shown()).find((entry) => entry.at(-1) === bought.id);
  assert.equal(bonus, ['FREE_CREDIT_GRANT', 'completed', '100', later(30 * 86_400), bought.id]);
  const { credit_balance, credits_available_breakdown } = await wallet();
  assert.equal(
    [credit_balance, credits_available_breakdown],
    ['1200', { free: '200', purchased: '1000' }],
  );
});

test('a purchase that is paid for later brings the bonus that it was ordered with, once it is paid', async () => {
  const { buy, set, complete, wallet } = await bonusWorld();
  const { wallet_transaction: order } = await buy('PURCHASED_CREDIT_INVOICED');
  assert.is((await wallet()).credit_balance, '100');
  await set([slab('1000', 'flat', '999')]);
  await complete(order.id);
  assert.is((await wallet()).credit_balance, '1200');
  await complete(order.id);
  assert.is((await wallet()).credit_balance, '1200', 'once');
});

test('an order that comes to nothing brings no bonus', async () => {
  const { buy, cancel, wallet, entries } = await bonusWorld();
  const { wallet_transaction: order } = await buy('PURCHASED_CREDIT_INVOICED');
  await cancel(order.id);
  assert.is((await wallet()).credit_balance, '100');
  assert.is((await entries()).length, 2);
});

test('a purchase that is repeated brings one bonus', async () => {
  const { buy, wallet } = await bonusWorld();
  const first = await buy('PURCHASED_CREDIT_DIRECT', {}, 'once');
  assert.equal(await buy('PURCHASED_CREDIT_DIRECT', {}, 'once'), first);
  assert.is((await wallet()).credit_balance, '1200');
});

test('the credits that an amount buys decide', async () => {
  const { buy, wallet } = await bonusWorld({}, { topup_conversion_rate: '0.5' });
  await buy('PURCHASED_CREDIT_DIRECT', { credits_to_add: undefined, amount: '500' });
  assert.is((await wallet()).credit_balance, '1200');
});

test('what is granted, what is switched off and a bonus that is named bring none of it', async () => {
  const off = await bonusWorld({ enabled: false });
  await off.buy('PURCHASED_CREDIT_DIRECT');
  assert.is((await off.wallet()).credit_balance, '1100');
  const { buy, wallet } = await bonusWorld();
  await buy('FREE_CREDIT_GRANT');
  assert.is((await wallet()).credit_balance, '1100');
  await buy('PURCHASED_CREDIT_DIRECT', { bonus_credits_to_add: '5' });
  assert.is((await wallet()).credit_balance, '2105');
  await rejection(buy('PURCHASED_CREDIT_INVOICED', { bonus_credits_to_add: '5' }));
});

test.run();
