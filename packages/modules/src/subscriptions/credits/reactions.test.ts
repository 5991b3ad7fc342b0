import { reaction } from '@counterfoil/engine/define';
import type { Currency, CustomerId, DecimalText, WalletId } from '@counterfoil/kernel';
import { callRoute, reactTo } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../../customers/index.ts';
import { atItsWorth, giveCredits, wallets } from '../../wallets/index.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { creditsOfSettlements } from './reactions.ts';

const test = suite('credits of settlements');

async function refunding() {
  const world = await subscriptionWorld([{ amount: '600' }]);
  const { call, request } = world;
  const run = (route: string, input: object) =>
    callRoute(wallets.routes?.[route as never] as never, request(), input) as Promise<{
      items: { id: string; credit_balance: string; wallet_status: string }[];
    }>;
  await world.pass(day(6, 1));
  /** Cancels a new subscription half through June. */
  const cancelled = async () => {
    const { id } = await world.create({ start_date: day(6, 1) });
    await world.pass(day(6, 16));
    await world.cancel(id, { cancellation_type: 'immediate' });
    return id;
  };
  return {
    ...world,
    cancelled,
    /** The same, and lets the reaction follow. */
    refunded: async () => {
      const id = await cancelled();
      await reactTo(request(), creditsOfSettlements(), id);
      return id;
    },
    react: (id: string) => reactTo(request(), creditsOfSettlements(), id),
    makeWallet: (body: object = {}) =>
      call(wallets.routes ?? {}, 'POST /wallets', {
        external_customer_id: 'ada',
        currency: 'usd',
        ...body,
      }),
    close: (id: string) => run('POST /wallets/{id}/terminate', { params: { id } }),
    balances: async () =>
      (await run('POST /wallets/search', { body: {} })).items
        .map(({ credit_balance }) => credit_balance)
        .reverse(),
  };
}

test('what is left over goes to a wallet that is made for it, once', async () => {
  const { refunded, react, balances } = await refunding();
  const id = await refunded();
  assert.equal(await balances(), ['300']);
  await react(id);
  assert.equal(await balances(), ['300']);
  await refunded();
  assert.equal(await balances(), ['600']);
});

test('wherever the process dies on the way, a repetition gives them once', async () => {
  for (const fate of ['unavailable', 'written_unheard'] as const) {
    for (let last = 0, isWhole = false; !isWhole; last += 1) {
      const { cancelled, react, balances, world } = await refunding();
      const id = await cancelled();
      let appended = 0;
      world.store.fate = () => {
        appended += 1;
        return appended > last ? 'unavailable' : appended === last ? fate : 'written';
      };
      await react(id);
      isWhole = appended < last;
      world.store.fate = () => 'written';
      await react(id);
      assert.equal(await balances(), ['300'], `${fate} at append ${last}`);
    }
  }
});

test('credits are worth what they give back, whatever they are sold for', async () => {
  const { refunded, makeWallet, balances } = await refunding();
  await makeWallet({ conversion_rate: '0.5', topup_conversion_rate: '2' });
  await refunded();
  assert.equal(await balances(), ['600']);
});

test('a closed wallet is passed over, and a repetition finds the one that has the credits', async () => {
  const { refunded, react, makeWallet, close, balances } = await refunding();
  const first = await makeWallet();
  const one = await refunded();
  assert.equal(await balances(), ['300']);
  await close(first.id);
  const other = await refunded();
  assert.equal(await balances(), ['0', '300']);
  await react(one);
  await react(other);
  assert.equal(await balances(), ['0', '300']);
});

test('credits for which others have chosen a wallet at the same time go where a repetition looks first', async () => {
  const { cancelled, makeWallet, request, balances } = await refunding();
  const { id: one } = await makeWallet();
  const { id: other } = await makeWallet({ allow_multiple: true });
  const customerId = await request().holderOf(customer, 'external_id', 'ada');
  const id = await cancelled();
  const chosen: WalletId[] = [];
  const choose = async (own: WalletId) => {
    const others = [one, other].filter((each) => each !== own);
    if (chosen.length === 0) chosen.push(...(others as WalletId[]), own);
    return { state: { wallets: chosen } };
  };
  const five = reaction(subscription, {
    name: 'five credits',
    on: {
      SubscriptionCancelled: (_event, context) =>
        giveCredits(
          context,
          {
            ...{ id, customerId: customerId as CustomerId, currency: 'usd' as Currency },
            ...{ chosen: [...chosen], choose },
          },
          {
            ...{ worth: { kind: 'credits', credits: '5' as DecimalText }, ...atItsWorth },
            ...{ reason: 'SUBSCRIPTION_CREDIT_GRANT', referenceType: 'EXTERNAL', referenceId: id },
            ...{ description: null, idempotencyKey: null, metadata: {} },
            ...{ priority: null, expiresAt: null },
          },
        ).then(() => undefined),
    },
  });
  await reactTo(request(), five, id);
  assert.equal((await balances()).toSorted(), ['0', '5']);
  await reactTo(request(), five, id);
  assert.equal((await balances()).toSorted(), ['0', '5']);
});

test('money that is owed to an archived customer without a wallet lies in one that is made for it', async () => {
  const { create, pass, cancel, balances, request } = await refunding();
  const { id } = await create({ start_date: day(6, 1) });
  await pass(day(6, 16));
  const customerId = await request().holderOf(customer, 'external_id', 'ada');
  const archive = customers.routes?.['DELETE /customers/{id}'];
  assert.ok(archive);
  await callRoute(archive, request(), { params: { id: customerId } });
  const { total_credit_amount } = await cancel(id, { cancellation_type: 'immediate' });
  assert.is(total_credit_amount, '300');
  for await (const event of request().history(subscription, id)) {
    await creditsOfSettlements().on[event.type]?.(event, request());
  }
  assert.equal(await balances(), ['300']);
});

test('a charge gives nothing back', async () => {
  const { create, react, balances } = await refunding();
  const { id } = await create();
  await react(id);
  assert.equal(await balances(), []);
});

test.run();
