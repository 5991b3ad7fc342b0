import { type DecimalText, decimal, type Instant, textOf } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { settleDue } from '../decisions.ts';
import { walletWorld } from '../test-wallet-world.ts';
import { wallet } from '../wallet.ts';
import type { WalletStatement } from './schema.ts';
import { walletStatement } from './statement.ts';

const test = suite('statements');

async function world() {
  const made = await walletWorld();
  const { id, request } = made;
  return {
    ...made,
    settle: () => request().execute(wallet, id, settleDue(id)),
    statement: (query: Parameters<typeof walletStatement>[2] = {}) =>
      walletStatement(request(), id, query),
  };
}

const changes = ({ entries }: WalletStatement) => entries.map(({ change }) => change);
const balances = ({ entries }: WalletStatement) =>
  entries.map(({ credit_balance }) => credit_balance);

const sum = (texts: readonly string[]): DecimalText =>
  textOf(texts.reduce((left, each) => left.plus(decimal(each)), decimal('0')));

test('without a period it tells everything since the wallet was made', async () => {
  const { statement, debit, pass, id, world: memory } = await world();
  pass(10);
  await debit('0.000000001');
  const shown = await statement();
  assert.equal(changes(shown), ['100', '-0.000000001']);
  assert.equal(balances(shown), ['100', '99.999999999']);
  assert.equal(
    [shown.opening_balance, shown.credits_in, shown.credits_out, shown.closing_balance],
    ['0', '100', '0.000000001', '99.999999999'],
  );
  assert.equal([shown.wallet_id, shown.to, shown.known_at], [id, memory.now, memory.now]);
});

test('an entry at `from` is in the opening balance, and one at `to` among the entries', async () => {
  const { statement, debit, pass, world: memory } = await world();
  pass(10);
  await debit('1');
  const from = memory.now;
  pass(10);
  await debit('2');
  const to = memory.now;
  pass(10);
  await debit('4');
  const shown = await statement({ from, to });
  assert.equal(
    [shown.opening_balance, ...changes(shown), shown.closing_balance],
    ['99', '-2', '97'],
  );
  const none = await statement({ from: to, to });
  assert.equal([none.opening_balance, ...changes(none), none.closing_balance], ['97', '97']);
});

test('an expiry that is booked late stands where it counts, and what was known before stays to be asked for', async () => {
  const { statement, topUp, debit, settle, pass, later, world: memory } = await world();
  const expiry_date_utc = later(60);
  await topUp({ transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '7', expiry_date_utc });
  pass(30);
  const from = memory.now;
  pass(50);
  const known_at = memory.now;
  pass(3600);
  await settle();
  await debit('1');
  const shown = await statement({ from });
  assert.equal(changes(shown), ['-7', '-1']);
  assert.is(shown.entries[0]?.effective_at, expiry_date_utc);
  assert.is(shown.entries[0]?.transaction_reason, 'CREDIT_EXPIRED');
  const before = await statement({ from, to: known_at, known_at });
  assert.equal([before.opening_balance, before.closing_balance], ['107', '107']);
});

test('every statement adds up', async () => {
  const { statement, topUp, debit, pass, world: memory } = await world();
  const marks: Instant[] = [memory.now];
  for (const credits of ['3', '0.5', '12.25', '7.125']) {
    pass(5);
    await debit(credits);
    marks.push(memory.now);
    await topUp({ transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: credits });
  }
  for (const from of marks) {
    for (const to of marks.filter((each) => each >= from)) {
      const shown = await statement({ from, to });
      const ends = sum([shown.opening_balance, ...changes(shown)]);
      assert.is(ends, shown.closing_balance);
      assert.is(sum([shown.opening_balance, shown.credits_in, `-${shown.credits_out}`]), ends);
    }
  }
});

test('a period that has not come or ends before it begins is refused', async () => {
  const { statement, later, world: memory } = await world();
  const pointerOf = async (query: object) =>
    (await rejection(statement(query))).errors?.[0]?.pointer;
  assert.is(await pointerOf({ to: later(1) }), '/to');
  assert.is(await pointerOf({ known_at: later(1) }), '/known_at');
  assert.is(await pointerOf({ from: later(1), to: memory.now }), '/from');
});

test.run();
