import { Problem } from '@counterfoil/kernel';
import { type MemoryWorld, reactTo, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nextDue } from '../wallet.ts';
import { customerDebits } from './customer-debits.ts';
import { debitsCarriedOut } from './reactions.ts';
import { debitsWorld } from './test-debits-world.ts';

const test = suite('debits of a customer whose process dies');

/** Three wallets, and a debit that needs all of them, or more than they have. */
async function threeWallets() {
  const debits = await debitsWorld();
  const ids = [await debits.open('10'), await debits.open('20'), await debits.open('30')] as const;
  /** The log from the first debit on. */
  const start = debits.world.store.log.length;
  return {
    ...debits,
    ids,
    logged: () => debits.world.store.log.slice(start).map(({ type }) => type),
    /** Carries out whatever is recorded, as the projector does. */
    project: (by: MemoryWorld) => reactTo(debits.request(by), debitsCarriedOut, debits.debitsId),
  };
}

const cases = [
  { what: 'a debit that is taken', body: { amount: '45' }, appends: 7, after: ['0', '0', '15'] },
  {
    what: 'a debit that is refused',
    body: { amount: '61' },
    appends: 8,
    after: ['10', '20', '30'],
  },
  {
    what: 'a debit that is taken in part',
    body: { amount: '61', allow_partial: true },
    appends: 8,
    after: ['0', '0', '0'],
  },
] as const;

const fates = ['unavailable', 'lost_unheard', 'written_unheard'] as const;

type World = Awaited<ReturnType<typeof threeWallets>>;

/** Asks for a debit in a process that dies at an append, and never comes back. */
async function dyingAt(
  { world, debit }: Pick<World, 'world' | 'debit'>,
  body: object,
  number: number,
  fate: (typeof fates)[number],
): Promise<void> {
  const { store } = world;
  let count = 0;
  store.fate = () => {
    count += 1;
    if (count < number) return 'written';
    return count === number ? fate : 'unavailable';
  };
  await debit(body, 'one').catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
  });
  assert.ok(count >= number, 'the debit makes fewer appends than this');
  store.fate = () => 'written';
}

/** The answer of a debit, or the details of its refusal. */
const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    return [error.code, error.details];
  });

/** Nothing is taken before the payment that completes it, or before all three hold what they have. */
function assertOrder(types: readonly string[]): void {
  const third = types.map((type) => type === 'CreditsHeld').lastIndexOf(true);
  const isAllHeld = types.filter((type) => type === 'CreditsHeld').length === 3;
  const paid = isAllHeld ? third : types.indexOf('CreditsDebited');
  const captured = types.indexOf('HoldCaptured');
  assert.ok(captured < 0 || (paid >= 0 && paid < captured), types.join());
}

async function assertEnd(
  world: World,
  after: readonly string[],
  rounds: number,
  taken = after[0] === '0' ? 3 : 0,
): Promise<void> {
  const { ids, balances, events, debitsId, request } = world;
  assert.equal(await balances(...ids), after);
  const { waiting } = await request().load(customerDebits, debitsId);
  assert.equal(waiting, []);
  const entries = ids.flatMap((id) =>
    events(id).filter((type) => type === 'CreditsDebited' || type === 'HoldCaptured'),
  );
  assert.is(events(debitsId).length, 2 * rounds);
  assert.is(entries.length, taken);
}

for (const { what, body, appends, after } of cases) {
  test(`${what} takes ${appends} appends`, async () => {
    const world = await threeWallets();
    const before = world.world.store.appends;
    await outcomeOf(world.debit(body));
    assert.is(world.world.store.appends - before, appends);
  });

  for (const fate of fates) {
    for (let number = 1; number <= appends; number += 1) {
      test(`${what}, ended by the projector after append ${number} was ${fate}`, async () => {
        const world = await threeWallets();
        await dyingAt(world, body, number, fate);
        assertOrder(world.logged());
        await world.project(world.another());
        const isRecorded = world.logged().includes('DebitRequested');
        if (isRecorded) await assertEnd(world, after, 1);
        const answer = await outcomeOf(world.debit(body, 'one', world.another()));
        await assertEnd(world, after, 1);
        const again = await outcomeOf(world.debit(body, 'one', world.another()));
        assert.equal(again, answer);
      });
    }
  }

  test(`${what} is ended by the next one before that begins, wherever its process died`, async () => {
    for (let number = 2; number <= appends; number += 1) {
      const world = await threeWallets();
      await dyingAt(world, body, number, 'lost_unheard');
      const next = await rejection(world.debit({ amount: '1000' }, 'two', world.another()));
      const left = String(after.map(Number).reduce((sum, each) => sum + each));
      assert.is(next.details?.available, left);
      await assertEnd(world, after, 2);
    }
  });
}

test('two processes that carry a debit out at the same time do together what one would do', async () => {
  for (const { body, after } of cases) {
    const world = await threeWallets();
    const [first, second] = [world.another(), world.another()];
    await dyingAt(world, body, 2, 'unavailable');
    await Promise.all([
      world.project(first),
      world.project(second),
      outcomeOf(world.debit(body, 'one', world.another())),
    ]);
    await world.project(world.another());
    await assertEnd(world, after, 1);
  }
});

test('of two debits at a time, of which one can be paid, one is paid', async () => {
  for (let round = 0; round < 10; round += 1) {
    const world = await threeWallets();
    const processes = [world.another(), world.another()];
    const answers = await Promise.all(
      processes.map((by) =>
        world.debit({ amount: '45' }, `by ${processes.indexOf(by)}`, by).catch(() => null),
      ),
    );
    await Promise.all(processes.map((by) => world.project(by)));
    assert.is(answers.filter((answer) => answer !== null).length, 1);
    await assertEnd(world, ['0', '0', '15'], 2);
  }
});

test('a debit does not overtake one that cannot be carried out', async () => {
  const world = await threeWallets();
  const { store } = world.world;
  await dyingAt(world, { amount: '45' }, 3, 'unavailable');
  const [first] = (await world.request().load(customerDebits, world.debitsId)).waiting;
  const debit_id = first?.debit_id ?? 'none';
  store.fate = (_stream, events) =>
    events.some(({ data }) => JSON.stringify(data).includes(debit_id)) ? 'unavailable' : 'written';
  const problem = await rejection(world.debit({ amount: '15' }, 'two', world.another()));
  assert.is(problem.code, 'service_unavailable');
  assert.equal(await world.balances(...world.ids), ['10 with 1 held', '20', '30']);
  store.fate = () => 'written';
  const second = await world.debit({ amount: '15' }, 'two', world.another());
  assert.equal(
    second.transactions.map(({ wallet_id }) => wallet_id),
    [world.ids[2]],
  );
  await assertEnd(world, ['0', '0', '0'], 2, 4);
});

test('a debit that was committed is captured in a wallet that was frozen meanwhile', async () => {
  const world = await threeWallets();
  const [a, b, c] = world.ids;
  await dyingAt(world, { amount: '45' }, 5, 'unavailable');
  await world.call('POST /wallets/{id}/freeze', a);
  await world.project(world.another());
  await assertEnd(world, ['0', '0', '15'], 1);
  assert.equal((await world.debit({ amount: '45' }, 'one')).transactions.length, 3);
  void [b, c];
});

test('a wallet that is frozen before its turn is passed over', async () => {
  const world = await threeWallets();
  await dyingAt(world, { amount: '30' }, 2, 'unavailable');
  await world.call('POST /wallets/{id}/freeze', world.ids[0]);
  await world.project(world.another());
  assert.equal(await world.balances(...world.ids), ['10', '0', '20']);
});

test('what is topped up while a debit is under way changes nothing of the shares that are taken', async () => {
  const world = await threeWallets();
  await dyingAt(world, { amount: '45' }, 3, 'unavailable');
  const load = { credits_to_add: '100', transaction_reason: 'FREE_CREDIT_GRANT' };
  for (const id of world.ids) await world.call('POST /wallets/{id}/top-up', id, load);
  const { transactions } = await world.debit({ amount: '45' }, 'one', world.another());
  assert.equal(
    transactions.map(({ credit_amount }) => credit_amount),
    ['10', '35'],
  );
  assert.equal(await world.balances(...world.ids), ['100', '85', '130']);
});

test('what is set aside is no occasion for a wallet that its breaker has stopped yesterday', async () => {
  const world = await debitsWorld();
  const auto_topup = {
    enabled: true,
    threshold: '0',
    amount: '5',
    invoicing: false,
    daily_limit: 1,
  };
  const id = await world.open('1', { auto_topup });
  await world.debitOne(id, '1');
  await rejection(world.debitOne(id, '6'));
  assert.equal((await world.stateOf(id)).automatic.stopped_on, '2026-01-01');
  world.pass(48 * 3600);
  assert.is(nextDue(await world.stateOf(id)), null);
  await dyingAt(world, { amount: '6' }, 3, 'unavailable');
  assert.equal(await world.balances(id), ['5 with 1 held']);
  assert.is(nextDue(await world.stateOf(id)), null, 'the debit that is on its way looks itself');
  await reactTo(world.request(world.another()), debitsCarriedOut, world.debitsId);
  assert.equal(await world.balances(id), ['10']);
});

test('at most 100 debits of a customer wait in a currency', async () => {
  const world = await threeWallets();
  world.world.store.fate = (stream) => (stream.startsWith('wallet-') ? 'unavailable' : 'written');
  for (let number = 0; number < 100; number += 1) {
    assert.is((await rejection(world.debit({ amount: '1' }))).code, 'service_unavailable');
  }
  const problem = await rejection(world.debit({ amount: '1' }));
  assert.is(problem.retryAfterSeconds, 1);
  assert.match(problem.message, '100 debits');
  world.world.store.fate = () => 'written';
  await world.project(world.another());
  assert.equal(await world.balances(...world.ids), ['0', '0', '0']);
  const { waiting } = await world.request().load(customerDebits, world.debitsId);
  assert.equal(waiting, []);
});

test.run();
