import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Problem } from './problem.ts';
import { changedFields, isEmpty, withChanges, withoutNulls, writable } from './record.ts';

const test = suite('records');

const record: { name: string; email: string | null; metadata: Record<string, string> } = {
  name: 'Ada',
  email: null,
  metadata: { a: '1', b: '2' },
};

test('only fields that differ count as changed', () => {
  assert.equal(
    changedFields(record, { name: 'Ada', email: 'a@b.co', metadata: { b: '2', a: '1' } }),
    { email: 'a@b.co' },
  );
  assert.equal(changedFields(record, { email: null, name: undefined }), {});
});

test('absent and undefined changes leave a field as it is, null clears it', () => {
  const filled = withChanges(record, { email: 'a@b.co', name: undefined });
  assert.equal(filled, { ...record, email: 'a@b.co' });
  assert.equal(withChanges(filled, { email: null }), record);
});

test('changes without a defined field are empty', () => {
  assert.ok(isEmpty({ name: undefined }));
  assert.not.ok(isEmpty({ name: null }));
});

test('what is null inside is omitted outside', () => {
  assert.equal(withoutNulls(record), { name: 'Ada', metadata: { a: '1', b: '2' } });
});

const codeOf = (status: 'published' | 'archived' | 'deleted' | null): string => {
  try {
    writable(status && { status }, 'thing', 'thing_1');
    return 'writable';
  } catch (error) {
    assert.instance(error, Problem);
    return (error as Problem).code;
  }
};

test('only a published record is writable', () => {
  assert.is(codeOf('published'), 'writable');
  assert.is(codeOf('archived'), 'invalid_operation');
  assert.is(codeOf('deleted'), 'not_found');
  assert.is(codeOf(null), 'not_found');
});

test('an answer begins with its id, and has no null', () => {
  const shown = withoutNulls({ config: {}, name: null, id: 'wallet_1' });
  assert.equal(Object.keys(shown), ['id', 'config']);
  assert.equal(Object.keys(withoutNulls({ id: null, name: 'x' })), ['name']);
});

test.run();
