import { given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadCredits, settleDue, terminateWallet } from '../decisions.ts';
import {
  after,
  at,
  create as creation,
  debit,
  details,
  holdOf as hold,
  id,
  load,
  story,
  text,
  walletAfter,
} from '../test-wallet.ts';
import { breakdownOf, wallet } from '../wallet.ts';
import { captureHold, holdCredits, voidHold } from './decisions.ts';

const test = suite('holds');

const create = creation({}, '100');

test('a hold lowers what is available and not the balance', () => {
  const state = after(create, holdCredits(id, hold('a', '60')));
  assert.is(state.credit_balance, '100');
  assert.equal(breakdownOf(state), { free: '40', purchased: '0' });
  given(wallet, story(create, holdCredits(id, hold('a', '60'))))
    .when(debit('41'))
    .thenProblem('invalid_operation');
});

test('a capture in part takes the part, gives the rest back and ends the hold', () => {
  const state = after(
    create,
    holdCredits(id, hold('a', '60')),
    captureHold(id, 'hold_a', text('25'), details()),
  );
  assert.is(state.credit_balance, '75');
  assert.equal(breakdownOf(state), { free: '75', purchased: '0' });
  assert.equal(state.holds, []);
});

test('a hold ends exactly once, however it ends', () => {
  const held = [create, holdCredits(id, hold('a', '60'))];
  for (const end of [captureHold(id, 'hold_a', null, details()), voidHold(id, 'hold_a')]) {
    const ended = story(...held, end);
    given(wallet, ended).when(voidHold(id, 'hold_a')).thenProblem('invalid_operation');
    given(wallet, ended)
      .when(captureHold(id, 'hold_a', null, details()))
      .thenProblem('invalid_operation');
  }
});

test('more than is held cannot be captured', () => {
  given(wallet, story(create, holdCredits(id, hold('a', '60'))))
    .when(captureHold(id, 'hold_a', text('60.000000001'), details()))
    .thenProblem('invalid_operation');
});

test('an expired hold gives its credits back at its instant and cannot be captured', () => {
  const events = story(create, holdCredits(id, hold('a', '60', at(2))));
  given(wallet, [...events])
    .when(captureHold(id, 'hold_a', null, details()))
    .thenProblem('invalid_operation');
  const due = settleDue(id)(walletAfter(events), at(9));
  assert.equal(
    due.map((event) => (event.type === 'HoldReleased' ? event.data.released_at : event.type)),
    [at(2)],
  );
  assert.is(breakdownOf(walletAfter([...events, ...due])).free, '100');
});

test('held credits do not expire; what comes back too late is booked as expired at once', () => {
  const soon = at(4);
  const events = story(
    create,
    loadCredits(id, [load('10', { priority: 1, expiresAt: soon })]),
    holdCredits(id, hold('a', '10')),
    debit('1'),
  );
  const late = at(20);
  assert.equal(settleDue(id)(walletAfter(events), late), []);
  const captured = captureHold(id, 'hold_a', text('4'), details())(walletAfter(events), late);
  const state = walletAfter([...events, ...captured]);
  assert.is(state.credit_balance, '99');
  const voided = voidHold(id, 'hold_a')(walletAfter(events), late);
  assert.equal(
    voided.map(({ type }) => type),
    ['HoldReleased', 'CreditsExpired'],
  );
});

test('a load pays what is owed before anything of it can be spent, also while credits are held', () => {
  const postpaid = creation({ wallet_type: 'POST_PAID' }, '5');
  const state = after(
    postpaid,
    holdCredits(id, hold('a', '5')),
    debit('3'),
    loadCredits(id, [load('10')]),
  );
  assert.is(state.credit_balance, '12');
  assert.equal(breakdownOf(state), { free: '7', purchased: '0' });
});

test('a wallet with open holds cannot be terminated', () => {
  given(wallet, story(create, holdCredits(id, hold('a', '60'))))
    .when(terminateWallet(id, details()))
    .thenProblem('invalid_operation');
});

test.run();
