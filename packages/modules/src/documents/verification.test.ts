import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { secret } from './test-document.ts';
import { checkDocument, type ProvenFacts, verificationCode } from './verification.ts';

const test = suite('verification codes');

const facts = {
  id: 'inv_01KGA0000000000000000000AA',
  number: 'INV-202602-00002',
  issued: '2026-02-01T02:00:00.000Z',
  currency: 'usd',
  total: '115.78',
} as ProvenFacts;
const code = verificationCode(secret, facts);
const question = { ...facts, code };

const check = checkDocument(secret);
const isGenuine = (changes: object) => check({ ...question, ...changes }).genuine;

test('a code is four groups of four characters that nobody takes for each other', () => {
  assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
  assert.is(verificationCode(secret, { ...facts, total: '115.780' }), code);
});

test('the facts of the document are genuine, in any way of writing them', () => {
  assert.is(isGenuine({}), true);
  assert.is(isGenuine({ total: '115.7800', currency: 'USD' }), true);
  assert.is(isGenuine({ code: ` ${code.toLowerCase().replaceAll('-', ' ')} ` }), true);
  assert.is(isGenuine({ code: code.replaceAll('0', 'O').replaceAll('1', 'l') }), true);
});

test('no other fact is, and no other secret', () => {
  const changes = {
    id: 'inv_01KGA0000000000000000000AB',
    number: 'INV-202602-00003',
    issued: '2026-02-01T02:00:00.001Z',
    currency: 'eur',
    total: '115.79',
    code: `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`,
  };
  for (const [name, value] of Object.entries(changes)) {
    assert.is(isGenuine({ [name]: value }), false, name);
  }
  assert.is(checkDocument(Buffer.alloc(32, 8))(question).genuine, false);
});

test('facts that run into one another are not those of another document', () => {
  const moved = { id: `${facts.id}","INV`, number: facts.number.slice(3) };
  assert.is.not(verificationCode(secret, { ...facts, ...moved }), code);
});

test('a question that is not whole is refused, naming what is wrong', () => {
  const faults: readonly (readonly [object, string])[] = [
    [{ code: '' }, '/code'],
    [{ code: 'x'.repeat(41) }, '/code'],
    [{ id: undefined }, '/id'],
    [{ issued: 'today' }, '/issued'],
    [{ currency: 'xyz' }, '/currency'],
    [{ total: '1,5' }, '/total'],
    [{ more: '1' }, '/more'],
  ];
  for (const [change, pointer] of faults) {
    try {
      isGenuine(change);
      assert.unreachable(pointer);
    } catch (error) {
      assert.instance(error, Problem);
      assert.is((error as Problem).errors?.[0]?.pointer, pointer);
    }
  }
});

test.run();
