import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isSoftDeleted,
  parseStreamMetadata,
  SOFT_DELETE_JSON,
  withTruncateBefore,
} from './stream-metadata.ts';

const test = suite('stream metadata');

const parsed: readonly (readonly [string, object])[] = [
  ['{}', {}],
  ['{"$maxCount":5}', { maxCount: 5 }],
  ['{"$maxAge": 60, "$maxCount" : 2}', { maxAgeSeconds: 60, maxCount: 2 }],
  ['{"$tb":9223372036854775807}', { truncateBefore: 9223372036854775807n }],
  ['{"note":"{\\"$tb\\":7}","deep":{"$tb":8},"list":["$tb",1]}', {}],
  ['{"\\u0024tb":3}', { truncateBefore: 3n }],
  ['{"$tb":1,"$tb":2}', { truncateBefore: 2n }],
  ['{"big":123456789012345678901234567890,"$maxCount":1}', { maxCount: 1 }],
  ['{"$tb":0,"$acl":{"$r":["a","b"]}}', { truncateBefore: 0n }],
];
for (const [json, expected] of parsed) {
  test(`reads ${json}`, () => assert.equal(parseStreamMetadata(json), expected));
}

const ignored = [
  '',
  'nonsense',
  '[1]',
  'null',
  '"text"',
  '{"$maxCount":0}',
  '{"$maxCount":-1}',
  '{"$maxCount":1.5}',
  '{"$maxCount":1e2}',
  '{"$maxCount":"5"}',
  '{"$maxAge":0}',
  '{"$tb":-1}',
  '{"$tb":9223372036854775808}',
  '{"$maxCount":1,"$tb":null}',
];
for (const json of ignored) {
  test(`takes ${json || 'nothing'} as no metadata at all`, () => {
    assert.equal(parseStreamMetadata(json), {});
  });
}

test('recognises a soft delete and nothing near it', () => {
  assert.ok(isSoftDeleted(parseStreamMetadata(SOFT_DELETE_JSON.toString())));
  assert.not(isSoftDeleted(parseStreamMetadata('{"$tb":9223372036854775806}')));
  assert.not(isSoftDeleted({}));
});

const rewritten: readonly (readonly [string, string])[] = [
  ['{}', '{"$tb":7}'],
  [' { } ', ' {"$tb":7 } '],
  ['{"a":1}', '{"$tb":7,"a":1}'],
  ['{"$tb":9223372036854775807}', '{"$tb":7}'],
  [
    '{"n":12345678901234567890, "$tb" : 1 , "z":"$tb"}',
    '{"n":12345678901234567890, "$tb" : 7 , "z":"$tb"}',
  ],
  ['{"$tb":1,"x":{"$tb":2},"$tb":3}', '{"$tb":7,"x":{"$tb":2},"$tb":7}'],
  ['{"$tb":"text","y":[1,{"a":"]}"}]}', '{"$tb":7,"y":[1,{"a":"]}"}]}'],
];
for (const [json, expected] of rewritten) {
  test(`sets $tb in ${json}`, () => {
    assert.is(withTruncateBefore(json, 7), expected);
    assert.is(JSON.parse(expected).$tb, 7);
  });
}

test.run();
