import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { creditsOf, day, expiryOf, monthStart, occasions, WalletBook } from './books.ts';

const test = suite('a year of a wallet');

test('a year has 12 loads, 52 debits and 4 refunds, in order', () => {
  const count = (kind: string) => occasions.filter((one) => one.kind === kind).length;
  assert.equal([count('load'), count('debit'), count('refund')], [12, 52, 4]);
  assert.ok(occasions.every(({ at }, index) => at >= (occasions[index - 1]?.at ?? 0)));
});

test('what is left of a month expires, and refunds stay', () => {
  const book = new WalletBook(3);
  for (const occasion of occasions) book.take(occasion);
  assert.is(book.balance(monthStart(12) + 28 * day), 20);
  assert.is(book.expiries, 12);
});

test('a debit draws what expires first, and nothing that has expired', () => {
  const book = new WalletBook(0);
  const load = { kind: 'load', number: 0, at: monthStart(0) } as const;
  book.take({ kind: 'refund', number: 0, at: monthStart(0) });
  book.take(load);
  book.take({ kind: 'debit', number: 9, at: monthStart(0) + day });
  assert.is(
    book.balance(monthStart(0) + day),
    105 - creditsOf({ kind: 'debit', number: 9, at: 0 }, 0),
  );
  assert.is(book.balance(expiryOf(load, 0) ?? 0), 5);
});

test.run();
