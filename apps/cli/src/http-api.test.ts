import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bodyOf } from './http-api.ts';
import { OperatorError } from './settings.ts';

const test = suite('answers of the API on the command line');

const refused = (body: unknown): string => {
  try {
    bodyOf({ status: 400, body });
  } catch (error) {
    assert.instance(error, OperatorError);
    return (error as OperatorError).message;
  }
  throw new Error('it was not refused');
};

test('a success gives its body', () => {
  assert.equal(bodyOf({ status: 201, body: { id: 'env_1' } }), { id: 'env_1' });
  assert.is(bodyOf({ status: 204, body: null }), null);
});

test('a single fault is one sentence, several are listed with their places', () => {
  const type = { pointer: '/type', message: 'is required' };
  const one = { message: 'type: is required', errors: [type] };
  assert.is(refused(one), 'type: is required');
  const errors = [type, { pointer: '/name', message: 'is required' }];
  const two = { message: 'type: is required (and 1 more, see errors)', errors };
  assert.is(refused(two), `${two.message}\n  /type: is required\n  /name: is required`);
  assert.is(refused(null), 'The API answered 400.');
});

test.run();
