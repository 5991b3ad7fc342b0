import type { Problem } from '@counterfoil/kernel';
import { stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { at, create, debitOf, id, load, story, walletAfter } from '../test-wallet.ts';
import { type BulkEntry, bulkResults, moveInBulk } from './bulk.ts';

const test = suite('bulk');

const credit = (credits: string): BulkEntry => ({ type: 'credit', load: load(credits) });
const debit = (credits: string): BulkEntry => ({ type: 'debit', debit: debitOf(credits) });

const created = story(create());

const run = (entries: readonly BulkEntry[], isAtomic: boolean) => {
  const events = moveInBulk(id, entries, isAtomic)(walletAfter(created), at(1));
  const stamped = events.map((event) => ({ ...event, stamp: stampAt(1) }));
  return { state: walletAfter([...created, ...events]), results: bulkResults(stamped, id) };
};

test('entries are run in their order, each on what the ones before it left', () => {
  const { state, results } = run([credit('10'), debit('4'), debit('6'), credit('1')], true);
  assert.is(state.credit_balance, '1');
  assert.equal(
    results.map(({ status, wallet_transaction }) => [
      status,
      wallet_transaction?.credit_balance_after,
    ]),
    [
      ['completed', '10'],
      ['completed', '6'],
      ['completed', '0'],
      ['completed', '1'],
    ],
  );
});

test('an atomic bulk is refused whole by the first entry that fails, and names it', () => {
  try {
    run([credit('10'), debit('11'), debit('99')], true);
    assert.unreachable();
  } catch (error) {
    assert.equal((error as Problem).details, {
      index: 1,
      reason: 'insufficient_credits',
      available: '10',
      requested: '11',
    });
  }
});

test('without atomic an entry that fails is as if it were absent, and has its own result', () => {
  const { state, results } = run([credit('10'), debit('11'), debit('4')], false);
  assert.is(state.credit_balance, '6');
  assert.equal(
    results.map(({ status, error }) => [status, error?.code]),
    [
      ['completed', undefined],
      ['failed', 'invalid_operation'],
      ['completed', undefined],
    ],
  );
});

test('a bulk of which every entry fails is recorded all the same', () => {
  const { state, results } = run([debit('1'), debit('2')], false);
  assert.is(state.credit_balance, '0');
  assert.is(results.filter(({ status }) => status === 'failed').length, 2);
});

test.run();
