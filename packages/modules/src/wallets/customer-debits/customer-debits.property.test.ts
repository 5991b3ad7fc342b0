import { Problem } from '@counterfoil/kernel';
import { reactTo } from '@counterfoil/testkit';
import { shownCredits } from '@counterfoil/testkit/ledger';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { debitsCarriedOut } from './reactions.ts';
import { debitsWorld } from './test-debits-world.ts';

const test = suite('money in debits of a customer');

/** Credits are whole billionths here, rates whole hundredths, and money the product of both. */
const one = 10n ** 9n;
const units = fc.oneof(
  fc.bigInt({ min: 1n, max: 40n }).map((n) => n * one),
  fc.bigInt({ min: 1n, max: 40n * one }),
);
const wallets = fc.array(
  fc.record({
    credits: units,
    rate: fc.constantFrom(100n, 100n, 50n, 300n, 1n, 7n),
    owes: fc.boolean(),
    priority: fc.option(fc.nat(2), { nil: undefined }),
    isFrozen: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 1, maxLength: 4 },
);
type Given = {
  readonly credits: bigint;
  readonly rate: bigint;
  readonly owes: boolean;
  readonly priority: number | undefined;
  readonly isFrozen: boolean;
};

const shown = (value: bigint): string => shownCredits(value);
const rateText = (rate: bigint): string => shown(rate * 10n ** 7n);

const bodyOf = ({ rate, owes, priority }: Given, mayOwe: boolean) => ({
  conversion_rate: rateText(rate),
  wallet_type: owes && mayOwe ? 'POST_PAID' : 'PRE_PAID',
  ...(priority === undefined ? {} : { priority }),
});

/** The loss of each wallet by a debit, in the order in which they were made; null when it is refused. */
function expected(given: readonly Given[], balances: readonly bigint[], amount: bigint) {
  const rank = ({ priority, owes }: Given) => [priority ?? Number.POSITIVE_INFINITY, Number(owes)];
  const order = given
    .map((each, index) => ({ ...each, index }))
    .filter(({ isFrozen }) => !isFrozen)
    .sort((a, b) => {
      const [[p = 0, t = 0], [q = 0, u = 0]] = [rank(a), rank(b)];
      return p === q ? t - u || a.index - b.index : p - q;
    });
  const losses = given.map(() => 0n);
  let missing = amount * 100n;
  for (const { index, rate, owes } of order) {
    const has = balances[index] ?? 0n;
    const needs = (missing + rate - 1n) / rate;
    if (owes || needs <= has) return losses.with(index, needs);
    if (has > 0n) losses[index] = has;
    missing -= (has > 0n ? has : 0n) * rate;
  }
  return null;
}

async function openAll(given: readonly Given[], mayOwe: boolean) {
  const world = await debitsWorld();
  const ids: string[] = [];
  for (const each of given) ids.push(await world.open(shown(each.credits), bodyOf(each, mayOwe)));
  for (const [index, { isFrozen }] of given.entries()) {
    if (isFrozen) await world.call('POST /wallets/{id}/freeze', ids[index] ?? '');
  }
  return { ...world, ids };
}

const refusedOr = <Value>(work: Promise<Value>): Promise<Value | null> =>
  work.catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'invalid_operation') return null;
    throw error;
  });

/** Billionths of a text of credits or money. */
function unitsOf(text: string): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const size = BigInt(whole) * 10n ** 11n + BigInt(fraction.padEnd(11, '0'));
  return text.startsWith('-') ? -size : size;
}

test('one after the other they take from each wallet what whole numbers say, or nothing at all', async () => {
  const amounts = fc.array(units, { minLength: 1, maxLength: 6 });
  const run = fc.asyncProperty(wallets, amounts, async (raw, asked) => {
    // One wallet of a type that may owe is enough: it pays whatever is left.
    const given = raw.map((each, index) => ({ ...each, owes: each.owes && index === 1 }));
    const world = await openAll(given, true);
    let balances = given.map(({ credits }) => credits);
    for (const amount of asked) {
      const losses = expected(given, balances, amount);
      const answer = await refusedOr(world.debit({ amount: shown(amount) }));
      assert.is(answer === null, losses === null);
      if (losses) balances = balances.map((balance, index) => balance - (losses[index] ?? 0n));
      assert.equal(await world.balances(...world.ids), balances.map(shown));
    }
  });
  await fc.assert(run, { numRuns: 60 });
});

test('at the same time as each other and as debits of single wallets, in two processes, each is whole or nothing', async () => {
  const acts = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('all' as const), amount: units }),
      fc.record({ kind: fc.constant('one' as const), which: fc.nat(3), amount: units }),
    ),
    { minLength: 2, maxLength: 10 },
  );
  const run = fc.asyncProperty(wallets, acts, async (raw, given) => {
    const wealth = raw.map((each) => ({ ...each, owes: false }));
    const world = await openAll(wealth, false);
    const processes = [world.world, world.another()];
    const lost = new Map<string, bigint>();
    const lose = (id: string, credits: string) =>
      lost.set(id, (lost.get(id) ?? 0n) + unitsOf(credits));
    await Promise.all(
      given.map(async (act, index) => {
        const by = processes[index % 2];
        if (act.kind === 'one') {
          const id = world.ids[act.which % world.ids.length] ?? '';
          const done = await refusedOr(world.debitOne(id, shown(act.amount), by));
          if (done) lose(id, shown(act.amount));
          return;
        }
        const done = await refusedOr(world.debit({ amount: shown(act.amount) }, `k${index}`, by));
        if (!done) return;
        for (const { wallet_id, credit_amount } of done.transactions)
          lose(wallet_id, credit_amount);
        const sum = done.transactions.reduce((total, { amount }) => total + unitsOf(amount), 0n);
        const excess = sum - unitsOf(shown(act.amount));
        const rate = wealth.map((each) => each.rate).reduce((a, b) => (a > b ? a : b));
        assert.ok(excess >= 0n && excess < rate, `${excess} more than was asked for`);
      }),
    );
    await reactTo(world.request(world.another()), debitsCarriedOut, world.debitsId);
    const left = wealth.map(({ credits }, index) => {
      const taken = lost.get(world.ids[index] ?? '') ?? 0n;
      return shown(credits - taken / 100n);
    });
    assert.equal(await world.balances(...world.ids), left);
  });
  await fc.assert(run, { numRuns: 40 });
});

test.run();
