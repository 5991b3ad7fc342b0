import {
  BrokenInvariant,
  type Id,
  invalidField,
  recordStampsShape,
  recordStatusSchema,
} from '@counterfoil/kernel';
import {
  callRoute,
  given,
  memoryWorld,
  published,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type EventsOf, equalTo, oneOf, record, recordRoutes } from './index.ts';

const test = suite('declared records');

const stamped = { ...recordStampsShape, status: recordStatusSchema };
const shelfBody = z.object({ name: z.string() });

const shelves = record({
  name: 'shelf',
  called: 'shelf',
  prefix: 'group',
  life: {
    created: { event: 'ShelfCreated', publishes: 'shelf.created', when: 'A shelf is created' },
    archived: { event: 'ShelfArchived', publishes: 'shelf.deleted', when: 'A shelf is archived' },
  },
  fixed: { name: z.string() },
  changeable: {},
  request: { schema: shelfBody, fields: (request) => request },
  schema: z.object({ ...stamped, name: z.string() }),
  view: (shelf) => ({ ...shelf }),
  table: { name: 'shelves', version: 1, columns: {} },
});

const bookFields = { title: z.string(), pages: z.number(), shelf_id: z.string().nullable() };
const bookBody = z.object({ isbn: z.string(), ...bookFields });

const books = record({
  name: 'book',
  called: 'book',
  prefix: 'coupon',
  life: {
    created: { event: 'BookCreated', publishes: 'book.created', when: 'A book is created' },
    updated: { event: 'BookUpdated', publishes: 'book.updated', when: 'A book changes' },
    archived: { event: 'BookArchived', publishes: 'book.archived', when: 'A book is archived' },
    deleted: { event: 'BookDeleted', publishes: 'book.deleted', when: 'A book is deleted' },
  },
  fixed: { isbn: z.string() },
  changeable: bookFields,
  born: { loans: 0 },
  unique: { field: 'isbn', ignoresCase: true },
  references: { shelf_id: shelves },
  check: ({ pages }) => {
    if (pages < 1) throw invalidField('/pages', 'must be at least 1');
  },
  request: { schema: bookBody, fields: (request) => request },
  schema: z.object({ ...stamped, isbn: z.string(), ...bookFields, loans: z.number() }),
  view: (book) => ({ ...book }),
  table: {
    name: 'books',
    version: 1,
    columns: {
      isbn: { type: 'text', of: ({ isbn }) => isbn.toLowerCase() },
      title: { type: 'text', of: ({ title }) => title },
    },
  },
});

const shelfRoutes = recordRoutes(shelves, { tag: 'Shelves', right: 'shelf' });
const bookRoutes = recordRoutes(books, { tag: 'Books', right: 'book' });
const filters = {
  isbns: oneOf('isbn', 20, { ignoresCase: true }),
  title: equalTo('title', z.string()),
};
const routes = {
  addShelf: shelfRoutes.create({ body: shelfBody, decide: shelves.createFrom }),
  endShelf: shelfRoutes.end({ decide: shelves.archive }),
  add: bookRoutes.create({ body: bookBody, decide: books.createFrom }),
  change: bookRoutes.change({ body: bookBody.partial(), decide: books.update }),
  end: bookRoutes.endWithMessage({ decide: books.remove }),
  get: bookRoutes.get(),
  getByIsbn: bookRoutes.getBy('isbn'),
  list: bookRoutes.list(filters),
  search: bookRoutes.search('BookSearch', filters),
};

const id = 'coupon_01' as Id<'coupon'>;
const emma = { isbn: 'A-1', title: 'Emma', pages: 474, shelf_id: null };
const created: EventsOf<typeof books> = { type: 'BookCreated', data: { id, ...emma } };
const archived: EventsOf<typeof books> = { type: 'BookArchived', data: {} };
const deleted: EventsOf<typeof books> = { type: 'BookDeleted', data: {} };

test('a record begins with its fields and what is born with it', () => {
  given(books.aggregate, []).when(books.createFrom(id, emma)).then([created]);
  given(books.aggregate, [])
    .when(books.create({ id, ...emma }))
    .thenState((state) => {
      assert.is(state?.loans, 0);
      assert.is(state?.status, 'published');
    });
  given(books.aggregate, [])
    .when(books.create({ id, ...emma, pages: 0 }))
    .thenProblem('validation_error', '/pages');
});

test('an update keeps what is fixed, and says only what differs', () => {
  const request = { ...emma, isbn: 'B-2', pages: 475 };
  given(books.aggregate, [created])
    .when(books.update(id, request))
    .then([{ type: 'BookUpdated', data: { pages: 475 } }]);
  given(books.aggregate, [created]).when(books.update(id, emma)).then([]);
  given(books.aggregate, [created])
    .when(books.update(id, { pages: 0 }))
    .thenProblem('validation_error', '/pages');
});

test('what is archived is written no more, and archived once; what is deleted is not found', () => {
  given(books.aggregate, [created]).when(books.archive(id)).then([archived]);
  given(books.aggregate, [created, archived]).when(books.archive(id)).then([]);
  given(books.aggregate, [created, archived])
    .when(books.update(id, {}))
    .thenProblem('invalid_operation');
  given(books.aggregate, [created]).when(books.remove(id)).then([deleted]);
  given(books.aggregate, [created, deleted]).when(books.update(id, {})).thenProblem('not_found');
  given(books.aggregate, [created, deleted]).when(books.archive(id)).thenProblem('not_found');
});

test('a step that a life does not have breaks an invariant', () => {
  const shelf = shelves.create({ id: 'group_01' as Id<'group'>, name: 'Novels' });
  given(shelves.aggregate, [])
    .when(shelf)
    .thenState(() => undefined);
  const state = { status: 'published' } as NonNullable<typeof shelves.aggregate.initial>;
  const remove = shelves.remove('group_01' as Id<'group'>);
  assert.throws(
    () => remove(state, '2026-01-01T00:00:00.000Z' as never),
    (error: unknown) => error instanceof BrokenInvariant,
  );
});

/** Requests to a world with nothing but shelves and books. */
function library() {
  const world = memoryWorld([shelves.aggregate, books.aggregate]);
  const context = () => world.request(testPrincipal());
  return {
    context,
    addShelf: () => callRoute(routes.addShelf, context(), { body: { name: 'Novels' } }),
    endShelf: (shelf: string) => callRoute(routes.endShelf, context(), { params: { id: shelf } }),
    add: (body: object = {}) => callRoute(routes.add, context(), { body: { ...emma, ...body } }),
    change: (book: string, body: object) =>
      callRoute(routes.change, context(), { params: { id: book }, body }),
    end: (book: string) => callRoute(routes.end, context(), { params: { id: book } }),
    get: (book: string) => callRoute(routes.get, context(), { params: { id: book } }),
    getByIsbn: (isbn: string) => callRoute(routes.getByIsbn, context(), { params: { isbn } }),
    list: (query: object) => callRoute(routes.list, context(), { query }),
    search: (body: object) => callRoute(routes.search, context(), { body }),
  };
}

test('the routes create, change, find and end a record', async () => {
  const { add, change, get, getByIsbn, end } = library();
  const book = await add();
  assert.is((await change(book.id, { title: 'Emma, 2nd' })).title, 'Emma, 2nd');
  assert.is((await get(book.id)).title, 'Emma, 2nd');
  assert.is((await getByIsbn('a-1')).id, book.id);
  assert.equal(await end(book.id), { message: `The book ${book.id} is deleted.` });
  assert.is((await rejection(get(book.id))).code, 'not_found');
  assert.is((await rejection(getByIsbn('A-1'))).code, 'not_found');
});

test('lists and searches take the same filters', async () => {
  const { add, list, search } = library();
  const book = await add();
  await add({ isbn: 'B-2', title: 'Persuasion' });
  for (const find of [list, search]) {
    assert.is((await find({})).items.length, 2);
    assert.equal((await find({ isbns: ['a-1', 'c-3'] })).items, [book]);
    assert.equal((await find({ title: 'Emma' })).items, [book]);
    assert.is((await find({ isbns: ['a-1'], title: 'Persuasion' })).items.length, 0);
  }
});

test('one published record holds a unique value, whatever its case', async () => {
  const { add, end, context } = library();
  const { id: first } = await add();
  assert.is((await rejection(add({ isbn: 'a-1' }))).code, 'already_exists');
  assert.is((await books.holder(context(), 'a-1', 'isbn')).id, first);
  await end(first);
  assert.is((await rejection(books.holder(context(), 'a-1', 'isbn'))).code, 'not_found');
  assert.is.not((await add({ isbn: 'a-1' })).id, first);
});

test('what something refers to stays, and what is gone is referred to by nothing new', async () => {
  const { addShelf, endShelf, add, end, context } = library();
  const { id: shelf_id } = await addShelf();
  const { id: book } = await add({ shelf_id });
  const refusal = await rejection(endShelf(shelf_id));
  assert.is(refusal.code, 'invalid_operation');
  assert.ok(refusal.message.includes(book), refusal.message);
  assert.is((await shelves.referred(context(), shelf_id)).id, shelf_id);
  await end(book);
  await endShelf(shelf_id);
  assert.is((await rejection(add({ shelf_id }))).code, 'invalid_operation');
  assert.is((await rejection(shelves.referred(context(), shelf_id))).code, 'invalid_operation');
});

test('every step is published, with the record as it is then', async () => {
  const { add, change, end, context } = library();
  const { id: book } = await add();
  await change(book, { pages: 475 });
  await end(book);
  const messages = await published(context(), books.publicEvents, books.aggregate, book);
  assert.equal(
    messages.map(({ type, body }) => [type, (body.book as typeof emma).pages]),
    [
      ['book.created', 474],
      ['book.updated', 475],
      ['book.deleted', 475],
    ],
  );
});

test.run();
