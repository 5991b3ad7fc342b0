import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { holdRoutes } from '../holds/routes.ts';
import { debitsWorld } from './test-debits-world.ts';

const test = suite('debits of a customer');

/** Wallet, credits and amount of each entry of an answer. */
const parts = (answer: {
  readonly transactions: readonly {
    readonly wallet_id: string;
    readonly credit_amount: string;
    readonly amount: string;
  }[];
}) => answer.transactions.map((row) => [row.wallet_id, row.credit_amount, row.amount]);

test('a second wallet of a currency and type is a conflict, unless it may stand beside others', async () => {
  const { open } = await debitsWorld();
  const alone = { allow_multiple: false };
  await open('1', alone);
  assert.is((await rejection(open('1', alone))).code, 'already_exists');
  await open('1');
  await open('1');
  assert.is((await rejection(open('1', alone))).code, 'already_exists');
  await open('1', { ...alone, wallet_type: 'POST_PAID' });
});

test('the one that stands alone may come after those that may stand beside others, and is drawn like them', async () => {
  const { open, debit, call } = await debitsWorld();
  const alone = { allow_multiple: false };
  const beside = await open('1');
  const single = await open('1', alone);
  assert.is((await rejection(open('1', alone))).code, 'already_exists');
  assert.equal(parts(await debit({ amount: '2' })), [
    [beside, '1', '1'],
    [single, '1', '1'],
  ]);
  await call('POST /wallets/{id}/terminate', single);
  await open('1', alone);
});

test('each wallet in turn gives what it has, until one can pay the rest', async () => {
  const { open, debit, balances } = await debitsWorld();
  const [a, b, c] = [await open('10'), await open('20'), await open('30')];
  const answer = await debit({ amount: '25', description: 'May' });
  assert.equal(parts(answer), [
    [a, '10', '10'],
    [b, '15', '15'],
  ]);
  assert.equal([answer.amount, answer.credits], ['25', '25']);
  for (const row of answer.transactions) {
    assert.equal(
      [row.reference_type, row.reference_id, row.description],
      ['REQUEST', answer.id, 'May'],
    );
  }
  assert.equal(await balances(a, b, c), ['0', '5', '30']);
});

test('a wallet that can pay all of it pays alone, without a hold', async () => {
  const { open, debit, events } = await debitsWorld();
  const a = await open('10');
  await open('20');
  await debit({ amount: '10' });
  assert.equal(events(a).slice(2), ['CreditsDebited']);
});

test('priority decides first, none last; then PRE_PAID before POST_PAID; then age', async () => {
  const { open, debit } = await debitsWorld();
  const owing = await open('5', { wallet_type: 'POST_PAID' });
  const old = await open('1');
  const second = await open('1', { priority: 2 });
  const first = await open('1', { priority: -1 });
  const young = await open('1');
  const answer = await debit({ amount: '30' });
  assert.equal(
    parts(answer).map(([id, credits]) => [id, credits]),
    [
      [first, '1'],
      [second, '1'],
      [old, '1'],
      [young, '1'],
      [owing, '26'],
    ],
  );
});

test('a priority that is changed decides from then on', async () => {
  const { open, debit, call } = await debitsWorld();
  await open('10');
  const b = await open('10');
  await call('PUT /wallets/{id}', b, { priority: 1 });
  assert.is((await debit({ amount: '1' })).transactions[0]?.wallet_id, b);
});

test('more than all have is refused whole: the wallets are as before, and hold nothing', async () => {
  const { open, debit, balances, events, debitsId } = await debitsWorld();
  const [a, b] = [await open('10'), await open('20')];
  const problem = await rejection(debit({ amount: '30.000000001' }));
  assert.equal(problem.details, {
    reason: 'insufficient_credits',
    available: '30',
    requested: '30.000000001',
  });
  assert.equal(await balances(a, b), ['10', '20']);
  assert.equal(events(debitsId), ['DebitRequested', 'DebitRefused']);
  assert.equal(events(a).slice(2), ['CreditsHeld', 'HoldReleased']);
  await debit({ amount: '30' });
  assert.equal(await balances(a, b), ['0', '0']);
});

for (const [asked, taken, missing] of [
  [{ amount: '25' }, [['10', '15'], '25'], '0'],
  [{ amount: '30' }, [['10', '20'], '30'], '0'],
  [{ amount: '30.000000001' }, [['10', '20'], '30'], '0.000000001'],
  [{ amount: '1000' }, [['10', '20'], '30'], '970'],
  [{ credits: '31.5' }, [['10', '20'], '30'], '1.5'],
] as const) {
  test(`of wallets of 10 and 20, ${JSON.stringify(asked)} takes ${taken[1]} with allow_partial`, async () => {
    const { open, debit, balances, events } = await debitsWorld();
    const [a, b] = [await open('10'), await open('20')];
    const answer = await debit({ ...asked, allow_partial: true }, 'part');
    const requested = Object.values(asked)[0];
    assert.equal([answer.amount, answer.requested, answer.missing], [taken[1], requested, missing]);
    assert.equal(
      parts(answer).map(([, credits]) => credits),
      taken[0],
    );
    assert.equal(await balances(a), ['0']);
    assert.is(events(b).includes('HoldReleased'), false);
    assert.equal(await debit({ ...asked, allow_partial: true }, 'part'), answer);
  });
}

test('without the word nothing is said of what is missing, and nothing is taken', async () => {
  const { open, debit, balances } = await debitsWorld();
  const a = await open('10');
  const whole = await debit({ amount: '4' });
  assert.equal([whole.requested, whole.missing], [undefined, undefined]);
  assert.is(
    (await rejection(debit({ amount: '7', allow_partial: false }))).details?.available,
    '6',
  );
  assert.equal(await balances(a), ['6']);
});

test('with allow_partial a debit is refused as any other where nothing is there at all', async () => {
  const { open, debit, stateOf } = await debitsWorld();
  const auto_topup = { enabled: true, threshold: '0', amount: '50' };
  const empty = await open('5', { auto_topup });
  await debit({ amount: '5' });
  const refused = await rejection(debit({ amount: '1', allow_partial: true }));
  assert.equal(refused.details, {
    reason: 'insufficient_credits',
    available: '0',
    requested: '1',
  });
  assert.is((await stateOf(empty)).topups.length, 1);
});

test('with a wallet that pays whatever the others leave, allow_partial is refused', async () => {
  const { open, debit, call } = await debitsWorld();
  await open('10');
  const owing = await open('0.000000001', { wallet_type: 'POST_PAID' });
  const refused = await rejection(debit({ amount: '11', allow_partial: true }));
  assert.is(refused.details?.reason, 'never_partial');
  await call('POST /wallets/{id}/freeze', owing);
  assert.is((await debit({ amount: '11', allow_partial: true })).missing, '1');
});

test('each wallet gives what it has at its own rate, and the rest is missing', async () => {
  const { open, debit } = await debitsWorld();
  await open('10', { conversion_rate: '0.5' });
  await open('9', { conversion_rate: '3' });
  const answer = await debit({ amount: '40', allow_partial: true });
  assert.equal([answer.amount, answer.credits, answer.missing], ['32', '19', '8']);
});

test('a repetition gets the first answer for ever, taken or refused, and another body is a conflict', async () => {
  const { open, debit, balances, events, debitsId, another } = await debitsWorld();
  const [a, b] = [await open('10'), await open('20')];
  const first = await debit({ amount: '25' }, 'one');
  const refused = await rejection(debit({ amount: '25' }, 'two'));
  const c = await open('1000', { priority: 0 });
  const count = events(debitsId).length;
  assert.equal(await debit({ amount: '25' }, 'one'), first);
  assert.equal((await rejection(debit({ amount: '25' }, 'two'))).details, refused.details);
  // A process that has just started has nothing of it in memory.
  assert.equal(await debit({ amount: '25' }, 'one', another()), first);
  assert.is((await rejection(debit({ amount: '26' }, 'one'))).code, 'idempotency_conflict');
  assert.is(events(debitsId).length, count);
  assert.equal(await balances(a, b, c), ['0', '5', '1000']);
});

test('frozen wallets are passed over, and without an active one it is refused under its key', async () => {
  const { open, debit, call, balances } = await debitsWorld();
  const [a, b] = [await open('10'), await open('20')];
  await call('POST /wallets/{id}/freeze', a);
  assert.equal(parts(await debit({ amount: '5' })), [[b, '5', '5']]);
  await call('POST /wallets/{id}/terminate', b);
  const refused = await rejection(debit({ amount: '1' }, 'none'));
  assert.is(refused.details?.reason, 'no_active_wallet');
  await call('POST /wallets/{id}/unfreeze', a);
  const again = await rejection(debit({ amount: '1' }, 'none'));
  assert.is(again.details?.reason, 'no_active_wallet');
  assert.equal(await balances(a), ['10']);
});

test('a customer without wallets is refused under the key, and goes on with another', async () => {
  const { open, debit, another, balances } = await debitsWorld();
  const refused = await rejection(debit({ amount: '1' }, 'none'));
  assert.is(refused.details?.reason, 'no_active_wallet');
  const a = await open('10');
  assert.is((await rejection(debit({ amount: '1' }, 'none'))).details?.reason, 'no_active_wallet');
  const done = await debit({ amount: '1' }, 'one', another());
  assert.equal(await debit({ amount: '1' }, 'one'), done);
  assert.equal(await balances(a), ['9']);
});

test('wallets in other currencies are not drawn, and an unknown customer is 404', async () => {
  const { open, debit, balances } = await debitsWorld();
  const [a, b] = [await open('10'), await open('20', { currency: 'eur' })];
  assert.is((await rejection(debit({ amount: '11' }))).details?.available, '10');
  assert.equal(await balances(a, b), ['10', '20']);
  assert.is((await rejection(debit({ amount: '11', currency: 'chf' }))).code, 'invalid_operation');
});

test('each wallet pays at its own rate, and credits need one rate', async () => {
  const { open, debit, balances } = await debitsWorld();
  const [a, b] = [
    await open('10', { conversion_rate: '0.5' }),
    await open('9', { conversion_rate: '3' }),
  ];
  const answer = await debit({ amount: '15' });
  // 10 credits are worth 5; the other 10 are 3.333333333… credits, of which the last digit is rounded up.
  assert.equal(parts(answer), [
    [a, '10', '5'],
    [b, '3.333333334', '10.000000002'],
  ]);
  assert.equal([answer.amount, answer.credits], ['15.000000002', '13.333333334']);
  assert.equal(await balances(a, b), ['0', '5.666666666']);
  assert.is((await rejection(debit({ credits: '1' }))).details?.reason, 'rates_differ');
});

test('credits are asked for where all wallets have one rate, and the refusal names credits', async () => {
  const { open, debit } = await debitsWorld();
  const rate = { conversion_rate: '0.25' };
  const [a, b] = [await open('10', rate), await open('20', rate)];
  assert.equal(parts(await debit({ credits: '12.5' })), [
    [a, '10', '2.5'],
    [b, '2.5', '0.625'],
  ]);
  assert.equal((await rejection(debit({ credits: '18' }))).details, {
    reason: 'insufficient_credits',
    available: '17.5',
    requested: '18',
  });
});

test('held and expired credits are not there', async () => {
  const { open, debit, hold, pass, world } = await debitsWorld();
  const a = await open('10');
  const expiry = new Date(Date.parse(world.now) + 5_000).toISOString();
  await open('20', { initial_credits_expiry_date_utc: expiry });
  await hold(a, '4');
  pass(6);
  assert.is((await rejection(debit({ amount: '7' }))).details?.available, '6');
  assert.equal(parts(await debit({ amount: '6' })), [[a, '6', '6']]);
});

test('a refused debit lets every wallet that tops itself up do so; one that was taken judges as any debit', async () => {
  const { open, debit, stateOf } = await debitsWorld();
  const auto_topup = { enabled: true, threshold: '1', amount: '50' };
  const critical = { threshold: '5', condition: 'below' };
  const a = await open('10', { auto_topup, alert_settings: { alert_enabled: true, critical } });
  const empty = await open('2', { auto_topup });
  await rejection(debit({ amount: '13' }));
  const [first, second] = [await stateOf(a), await stateOf(empty)];
  assert.equal(
    [first, second].map(({ topups }) => topups.map(({ automatic }) => automatic?.cause)),
    [['refused_debit'], ['refused_debit']],
  );
  assert.is(first.alert_state, 'ok');
  await debit({ amount: '11' });
  assert.is((await stateOf(a)).alert_state, 'in_alarm');
});

test('what a debit holds cannot be touched by others while it is under way', async () => {
  const { open, debit, world, stateOf, request, debitOne } = await debitsWorld();
  const [a] = [await open('10'), await open('20')];
  // Nothing can be written any more once the first wallet holds.
  world.store.fate = (_stream, events) =>
    events.some(({ type }) => type === 'CreditsDebited' || type === 'HoldReleased')
      ? 'unavailable'
      : 'written';
  const problem = await rejection(debit({ amount: '25' }, 'one'));
  assert.is(problem.code, 'service_unavailable');
  world.store.fate = () => 'written';
  const [hold] = (await stateOf(a)).holds;
  assert.ok(hold?.debit_id);
  const params = { id: a, hold_id: hold?.id ?? '' };
  for (const route of [
    'POST /wallets/{id}/holds/{hold_id}/void',
    'POST /wallets/{id}/holds/{hold_id}/capture',
    'PUT /wallets/{id}/holds/{hold_id}',
  ] as const) {
    const body = route.startsWith('PUT') ? { credits: '1' } : {};
    const refused = await rejection(callRoute(holdRoutes[route], request(), { params, body }));
    assert.is(refused.details?.reason, 'hold_of_debit', route);
  }
  assert.is((await rejection(debitOne(a, '1'))).details?.available, '0');
  const done = await debit({ amount: '25' }, 'one');
  assert.is(done.amount, '25');
});

test.run();
