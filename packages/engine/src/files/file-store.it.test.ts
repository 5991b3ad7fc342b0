import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startWorld, type TestWorld } from '../projection/test-world.ts';
import { createFileStore, type OpenFileStore } from './file-store.ts';

const test = suite('files');
/** Of all files of an environment in these tests. */
const environmentBytes = 1_000;
let world: TestWorld;
let files: OpenFileStore;

test.before(async () => {
  world = await startWorld();
  files = createFileStore({ database: await world.database(), environmentBytes });
});
test.after(async () => {
  await files.close();
  await world.close();
});

const own = { environmentId: 'env_1', name: 'task_1/file' };
const bytesOf = (text: string) => Buffer.from(text);
async function textOf(file = own): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of files.read(file)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('pieces are added behind one another, of one file and environment', async () => {
  assert.is(await files.stateOf(own), null);
  assert.is(await files.begin(own, 'a'), 0);
  assert.ok(await files.add(own, 'a', 0, bytesOf('one')));
  assert.ok(await files.add(own, 'a', 3, bytesOf('two')));
  assert.equal(await files.stateOf(own), { mark: 'a', bytes: 6 });
  assert.is(await textOf(), 'onetwo');
  assert.is(await textOf({ ...own, environmentId: 'env_2' }), '');
});

test('a piece in another place, or of another mark, is not added', async () => {
  for (const [mark, place] of [
    ['a', 3],
    ['a', 7],
    ['b', 6],
  ] as const) {
    assert.not.ok(await files.add(own, mark, place, bytesOf('x')));
  }
  assert.is(await textOf(), 'onetwo');
});

test('who takes a file over keeps what it names, and shuts the others out', async () => {
  assert.is(await files.begin(own, 'b', 3), 3);
  assert.not.ok(await files.add(own, 'a', 3, bytesOf('x')));
  assert.ok(await files.add(own, 'b', 3, bytesOf('three')));
  assert.is(await textOf(), 'onethree');
  const failure = await files.begin(own, 'c', 4).catch((error: unknown) => error);
  assert.instance(failure, RangeError);
  assert.is(await textOf(), 'onethree');
});

test('a file that is lost has nothing left, and one that is old is removed', async () => {
  await files.remove(own);
  assert.is(await files.begin(own, 'd', 8), 0);
  await files.add(own, 'd', 0, bytesOf('x'));
  await files.removeOlderThan(1, '%/file');
  assert.is(await textOf(), 'x');
  await files.removeOlderThan(-1, '%/other');
  assert.is(await textOf(), 'x');
  await files.removeOlderThan(-1, '%/file');
  assert.is(await files.stateOf(own), null);
});

test('the files of an environment are limited together, and those of others are not touched by it', async () => {
  const place = { environmentId: 'env_3' };
  const [first, second] = ['a', 'b'].map((name) => ({ ...place, name }));
  if (!first || !second) throw new Error('there are two');
  await files.begin(first, 'm');
  await files.begin(second, 'm');
  assert.ok(await files.add(first, 'm', 0, Buffer.alloc(600)));
  const failure = await files.add(second, 'm', 0, Buffer.alloc(401)).catch((error) => error);
  assert.equal([failure.name, failure.limitBytes], ['FilesFull', environmentBytes]);
  assert.equal(await files.stateOf(second), { mark: 'm', bytes: 0 });
  assert.ok(await files.add(second, 'm', 0, Buffer.alloc(400)));
  const other = { environmentId: 'env_4', name: 'a' };
  await files.begin(other, 'm');
  assert.ok(await files.add(other, 'm', 0, Buffer.alloc(600)));
  await files.remove(first);
  assert.ok(await files.add(second, 'm', 400, Buffer.alloc(600)));
});

test.run();
