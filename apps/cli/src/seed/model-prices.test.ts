import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { thousandfold } from './model-prices.ts';

const test = suite('prices of models');

test('credits per thousand tokens are a hundred thousand times the dollars per token, exactly', () => {
  assert.is(thousandfold('0.000015'), '1.5');
  assert.is(thousandfold('0.0000006'), '0.06');
  assert.is(thousandfold('0.00012'), '12');
  assert.is(thousandfold('2'), '200000');
});

test.run();
