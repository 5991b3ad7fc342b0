import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { eventFilterSchema, specifiedTypes, typesOffered, wantsType } from './event-types.ts';

const test = suite('event types');

const filterSchema = eventFilterSchema(typesOffered([{ types: published('coupon.deleted') }]));

function published(...types: string[]) {
  return Object.fromEntries(types.map((type) => [type, { summary: type, body: z.object({}) }]));
}

test('there are the 42 types of the specification, each once', () => {
  assert.is(specifiedTypes.length, 42);
  assert.is(new Set(specifiedTypes).size, 42);
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
  assert.equal(filterSchema.parse(['coupon.deleted']), ['coupon.deleted']);
});

test('what is published can be asked for, and what the specification lists before it is', () => {
  assert.equal(filterSchema.parse([...specifiedTypes]), [...specifiedTypes]);
  assert.ok(filterSchema.safeParse(['coupon.*']).success);
  assert.not.ok(filterSchema.safeParse(['meter.created']).success, 'nobody publishes it here');
});

test('a filter takes known types and prefixes that cover one, without repetitions', () => {
  const filter = ['customer.updated', 'wallet.credit_balance.*', 'customer.updated'];
  assert.equal(filterSchema.parse(filter), ['customer.updated', 'wallet.credit_balance.*']);
  assert.is(filterSchema.parse(null), null);
});

test('a filter that could never match is refused', () => {
  for (const entry of ['customer', '*', '.*', 'invoices.*', 'customer.renamed', 'invoice.*.x']) {
    assert.not.ok(filterSchema.safeParse([entry]).success, entry);
  }
  assert.not.ok(filterSchema.safeParse([]).success, 'no entry at all');
});

test.run();
