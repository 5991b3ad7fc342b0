import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventFilterSchema, eventTypes, wantsType } from './event-types.ts';

const test = suite('event types');

test('there are the 42 types of the specification, each once', () => {
  assert.is(eventTypes.length, 42);
  assert.is(new Set(eventTypes).size, 42);
});

test('a filter matches exactly, by prefix, or everything', () => {
  assert.ok(wantsType(null, 'wallet.created'));
  assert.ok(wantsType(['wallet.created'], 'wallet.created'));
  assert.not.ok(wantsType(['wallet.created'], 'wallet.updated'));
  assert.ok(wantsType(['invoice.*'], 'invoice.update.finalized'));
  assert.ok(wantsType(['wallet.created', 'invoice.*'], 'invoice.update'));
  assert.not.ok(wantsType(['invoice.update.*'], 'invoice.update'));
  assert.not.ok(wantsType(['credit.*'], 'credit_note.created'), 'a prefix ends at a point');
});

test('changes of the catalogue go to those alone who ask for them', () => {
  assert.not.ok(wantsType(null, 'meter.created'));
  assert.ok(wantsType(['meter.created'], 'meter.created'));
  assert.ok(wantsType(['price_unit.*'], 'price_unit.updated'));
  assert.equal(eventFilterSchema.parse(['coupon.deleted']), ['coupon.deleted']);
});

test('a filter takes known types and prefixes that cover one, without repetitions', () => {
  const filter = ['customer.updated', 'wallet.credit_balance.*', 'customer.updated'];
  assert.equal(eventFilterSchema.parse(filter), ['customer.updated', 'wallet.credit_balance.*']);
  assert.is(eventFilterSchema.parse(null), null);
});

test('a filter that could never match is refused', () => {
  for (const entry of ['customer', '*', '.*', 'invoices.*', 'customer.renamed', 'invoice.*.x']) {
    assert.not.ok(eventFilterSchema.safeParse([entry]).success, entry);
  }
  assert.not.ok(eventFilterSchema.safeParse([]).success, 'no entry at all');
});

test.run();
