import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AskingContext } from './asking-context.ts';
import { type Expansion, expandParameter, expansion } from './expansion.ts';

const test = suite('expand');

interface Book {
  readonly id: string;
  readonly shelf_id: string | null;
  readonly owner_id: string;
  readonly shelf?: string;
  readonly owner?: string;
}

/** Books with their shelves always and their owners if asked, and the look-ups that were made. */
function library(): { readonly books: Expansion<Book>; readonly lookUps: (readonly string[])[] } {
  const lookUps: (readonly string[])[] = [];
  const find = async (_context: AskingContext, ids: readonly string[]) => {
    lookUps.push(ids);
    return new Map(ids.filter((id) => id !== 'gone').map((id) => [id, `the ${id}`]));
  };
  const books = expansion<Book>(
    {
      shelves: { as: 'shelf', id: ({ shelf_id }) => shelf_id, find, always: true },
      owners: { as: 'owner', id: ({ owner_id }) => owner_id, find },
    },
    ['rooms'],
  );
  return { books, lookUps };
}

const context = {} as AskingContext;
const book = (id: string, shelf_id: string | null, owner_id: string): Book => ({
  ...{ id, shelf_id, owner_id },
});

test('what is asked for is looked up once for all, each id once', async () => {
  const { books, lookUps } = library();
  const some = [book('a', 'low', 'ada'), book('b', 'low', 'bob'), book('c', null, 'ada')];
  const shown = await books.show(context, some, ['owners']);
  assert.equal(lookUps, [['low'], ['ada', 'bob']]);
  assert.equal(
    shown.map(({ shelf, owner }) => [shelf, owner]),
    [
      ['the low', 'the ada'],
      ['the low', 'the bob'],
      [undefined, 'the ada'],
    ],
  );
});

test('without a word only what is always shown is there, and nothing is asked where nothing is named', async () => {
  const { books, lookUps } = library();
  assert.equal(await books.show(context, [book('a', 'low', 'ada')]), [
    { ...book('a', 'low', 'ada'), shelf: 'the low' },
  ]);
  assert.equal(await books.show(context, [book('a', null, 'ada')]), [book('a', null, 'ada')]);
  assert.equal(lookUps, [['low']]);
});

test('a record that is not there is left out', async () => {
  const { books } = library();
  const [shown] = await books.show(context, [book('a', 'gone', 'ada')]);
  assert.not.ok('shelf' in (shown ?? {}));
});

test('names are repeated or joined by commas and dots, and others are refused', () => {
  const { parameter } = library().books;
  assert.equal(parameter.parse('shelves,owners'), ['shelves', 'owners']);
  assert.equal(parameter.parse(['shelves.rooms', 'owners']), ['shelves', 'rooms', 'owners']);
  assert.equal(parameter.parse(''), []);
  for (const wrong of ['owners,doors', ['owners', ''], 'owners,']) {
    assert.equal(parameter.safeParse(wrong).error?.issues[0]?.path, [1]);
  }
});

test('where there is nothing to expand, every name is refused', () => {
  const nothing = expandParameter([]);
  assert.equal([nothing.parse(undefined), nothing.parse('')], [undefined, []]);
  assert.match(nothing.safeParse('owners').error?.issues[0]?.message ?? '', 'nothing to expand');
});

test.run();
