import { canonicalJson } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { settleDue } from './decisions.ts';
import { entryAfter, entryMembers, touchedEntries } from './ledger/transaction.ts';
import type { TransactionResource } from './schema.ts';
import { create, debit, history, id, load } from './test-wallet.ts';
import { walletMembers, walletView } from './view.ts';
import { wallet } from './wallet.ts';

const test = suite('members of wallets and entries');

const events = history(
  [
    0,
    create(
      { description: 'd', metadata: { a: '1' }, auto_topup: null },
      load('5', { priority: 2 }),
    ),
  ],
  [1, debit('2')],
  [2, debit('1')],
  [9, settleDue(id)],
);

/** Those of the names that are there, in the order of the list. */
const inOrder = (list: object, resource: object): string[] =>
  Object.keys(list).filter((name) => Object.hasOwn(resource, name));

/** An event as the log gives it back: its members are in another order than when it was decided. */
const stored = (event: (typeof events)[number]): typeof event => ({
  ...event,
  data: JSON.parse(canonicalJson(event.data)),
});

test('a wallet has its members in the order in which its row holds them, whoever folded it', () => {
  for (const log of [events, events.map(stored)]) {
    const shown = walletView(log.reduce(wallet.evolve, wallet.initial));
    assert.equal(Object.keys(shown), inOrder(walletMembers, shown));
  }
});

test('an entry has its members in the order in which its row holds them', () => {
  const rows = new Map<string, TransactionResource>();
  for (const [revision, event] of events.entries()) {
    const place = { aggregate: 'wallet' as const, aggregate_id: id, event_id: '', position: '0' };
    for (const key of touchedEntries(event)) {
      const row = entryAfter(rows.get(key) ?? null, { ...event, ...place, revision }, key);
      if (row) rows.set(key, row);
    }
  }
  assert.is(rows.size, 3);
  for (const row of rows.values()) assert.equal(Object.keys(row), inOrder(entryMembers, row));
});

test.run();
