import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { filledExample, newRecord, newText, shownExample } from './route-example.ts';

const test = suite('examples of routes');

const example = {
  name: newText('Acme'),
  customer_id: newRecord('cust'),
  codes: [newRecord('coupon', 'coupon_code')],
  priority: 7,
  note: null,
};

test('the documentation shows texts as they are, and ids of the form of each kind', () => {
  assert.equal(shownExample(example), {
    name: 'Acme',
    customer_id: 'cust_01KA0000000000000000000000',
    codes: ['coupon_code'],
    priority: 7,
    note: null,
  });
});

test('placeholders are filled wherever they stand, and nothing else is changed', () => {
  const text = (sample: string) => `new ${sample}`;
  assert.equal(filledExample(example, { text, record: (name) => `<${name}>` }), {
    name: 'new Acme',
    customer_id: '<cust>',
    codes: ['<coupon.coupon_code>'],
    priority: 7,
    note: null,
  });
  assert.is(filledExample(undefined, { text, record: text }), undefined);
});

test.run();
