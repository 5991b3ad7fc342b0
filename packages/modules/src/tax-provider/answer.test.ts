import type { Currency } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readAnswer, taxesIn, WrongAnswer } from './answer.ts';
import type { AskedLine } from './question.ts';

const test = suite('answers of tax providers');

const asked = (id: string, amount: string) => ({ id, amount }) as unknown as AskedLine;
const tax = (amount: string, more: object = {}) => ({ name: 'VAT', rate: '19', amount, ...more });

const taxesOf = (lines: unknown, of: readonly AskedLine[], currency = 'usd') =>
  taxesIn(
    readAnswer(Buffer.from(JSON.stringify({ lines }))),
    'inv_1',
    of,
    currency as Currency,
  ).map(({ code, percentage, shares }) => [
    code,
    percentage,
    (shares ?? []).map(({ line_id, amount }) => `${line_id} ${amount}`),
  ]);

test('lines with the same name, code and rate are one tax of the invoice, and others are others', () => {
  const lines = [
    { id: 'a', taxes: [tax('19'), tax('1', { code: 'CITY', rate: '1' })] },
    { id: 'b', taxes: [tax('9.5')] },
    { id: 'c', taxes: [] },
  ];
  assert.equal(taxesOf(lines, [asked('a', '100'), asked('b', '50'), asked('c', '7')]), [
    ['VAT', '19', ['a 19', 'b 9.5']],
    ['CITY', '1', ['a 1']],
  ]);
});

test('what is given back has tax that is given back', () => {
  const of = [asked('a', '-100')];
  assert.equal(taxesOf([{ id: 'a', taxes: [tax('-19')] }], of), [['VAT', '19', ['a -19']]]);
  assert.throws(
    () => taxesOf([{ id: 'a', taxes: [tax('19')] }], of),
    (error: unknown) => error instanceof WrongAnswer,
  );
});

test('a currency without decimals has none in its taxes', () => {
  const of = [asked('a', '100')];
  assert.equal(taxesOf([{ id: 'a', taxes: [tax('19')] }], of, 'jpy').length, 1);
  assert.throws(() => taxesOf([{ id: 'a', taxes: [tax('19.5')] }], of, 'jpy'), /0 digits/);
});

test.run();
