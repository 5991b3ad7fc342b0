import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isPlainObject, safeJson } from './json-safety.ts';

const test = suite('json-safety');

class Money {
  readonly amount = '1.00';
}

const faultOf = (value: unknown): string => {
  try {
    safeJson(value, 'data');
  } catch (error) {
    assert.instance(error, TypeError);
    return (error as TypeError).message;
  }
  return 'none';
};

test('gives the text of what JSON carries', () => {
  const value = { text: 'Ärger 😀', number: -1.5, yes: true, nothing: null, list: [1, [], {}] };
  assert.equal(JSON.parse(safeJson(value, 'data')), value);
});

test('leaves out members that are undefined', () => {
  assert.is(safeJson({ kept: 1, left: undefined }, 'data'), '{"kept":1}');
});

test('keeps a member named __proto__ a member', () => {
  const text = '{"__proto__":{"isAdmin":true}}';
  assert.is(safeJson(JSON.parse(text), 'data'), text);
});

test('names the place and kind of what JSON cannot carry', () => {
  assert.is(faultOf({ lots: [{ amount: 1n }] }), 'data.lots[0].amount: JSON cannot carry bigint');
  assert.is(faultOf({ rate: Number.NaN }), 'data.rate: JSON cannot carry NaN');
  assert.is(faultOf({ rate: Number.POSITIVE_INFINITY }), 'data.rate: JSON cannot carry Infinity');
  assert.is(faultOf({ act: () => 1 }), 'data.act: JSON cannot carry function');
  assert.is(faultOf({ tag: Symbol('x') }), 'data.tag: JSON cannot carry symbol');
  assert.is(faultOf(undefined), 'data: JSON cannot carry undefined');
});

test('refuses undefined elements and holes, which would become null', () => {
  assert.is(faultOf([1, undefined]), 'data[1]: JSON cannot carry undefined');
  assert.is(faultOf(new Array(2)), 'data[0]: JSON cannot carry undefined');
});

test('refuses objects that would change on their way', () => {
  assert.is(faultOf({ at: new Date(0) }), 'data.at: JSON cannot carry an instance of Date');
  assert.is(faultOf({ map: new Map() }), 'data.map: JSON cannot carry an instance of Map');
  assert.is(faultOf({ price: new Money() }), 'data.price: JSON cannot carry an instance of Money');
  assert.is(faultOf({ toJSON: () => 'other' }), 'data.toJSON: JSON cannot carry function');
});

test('refuses text that UTF-8 cannot carry, in values and names', () => {
  assert.match(faultOf({ note: 'half \ud800' }), 'data.note: JSON cannot carry a lone surrogate');
  assert.match(faultOf({ '\udc00': 1 }), 'a name with a lone surrogate');
});

test('refuses a cycle instead of running out of stack', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  assert.match(faultOf(cycle), 'more than 100 levels');
});

test('tells plain objects from everything else', () => {
  assert.ok(isPlainObject({}));
  assert.ok(isPlainObject(Object.create(null)));
  for (const other of [null, undefined, 'text', 1, [], new Date(0), new Money()]) {
    assert.not(isPlainObject(other));
  }
});

test.run();
