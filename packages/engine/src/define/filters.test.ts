import { aggregate } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import type { Reader } from './context.ts';
import { dueWork } from './due-work.ts';
import {
  type FilterOf,
  listShape,
  ofTable,
  pageRequest,
  searchFilters,
  searchShape,
  where,
} from './listing.ts';
import { type EventFrom, projection, recordProjection } from './projection.ts';

const test = suite('columns that the compiler knows');

const jar = aggregate({
  name: 'jar',
  scope: 'environment',
  events: { JarFilled: z.object({ coins: z.number() }) },
  initial: { coins: 0, created_at: '', updated_at: '' },
  evolve: (state, event) => ({ ...state, coins: event.data.coins }),
});

const shelf = aggregate({
  name: 'shelf',
  scope: 'environment',
  events: { ShelfMoved: z.object({ room: z.string() }) },
  initial: { room: '' },
  evolve: (_state, event) => ({ room: event.data.room }),
});

const jarTable = recordProjection(jar, {
  name: 'jars',
  version: 1,
  view: (state: typeof jar.initial) => ({ ...state, label: 'x', is_full: true }),
  columns: {
    label: { type: 'text', of: ({ label }) => label },
    coins: { type: 'numeric', of: ({ coins }) => coins },
    is_full: { type: 'boolean', of: ({ is_full }) => is_full },
    filled_at: { type: 'timestamptz', of: () => null },
  },
});

type JarFilters = readonly FilterOf<typeof jarTable>[];

/**
 * The lines below are checked by the compiler alone: a directive that is not needed fails the
 * compiler.
 */
test('a filter names a column of the table, with a value of its type', () => {
  const fitting: JarFilters = [
    ...where('label', 'in', ['a', 'b']),
    ...where('label', 'contains', 'a'),
    ...where('coins', 'gt', '1.5'),
    ...where('is_full', 'eq', true),
    ...where('created_at', 'lt', '2026-01-01T00:00:00.000Z'),
    ...where('metadata', 'metadata', { team: 'a' }),
  ];
  assert.is(fitting.length, 6);
  // @ts-expect-error: the table has no such column
  const unknown: JarFilters = where('lable', 'eq', 'a');
  // @ts-expect-error: a decimal is a text
  const inexact: JarFilters = where('coins', 'gt', 1.5);
  // @ts-expect-error: a list is asked for
  const single: JarFilters = where('label', 'in', 'a');
  // @ts-expect-error: yes or no
  const untrue: JarFilters = where('is_full', 'eq', 'true');
  for (const filters of [unknown, inexact, single, untrue]) assert.is(filters.length, 1);
});

test('an absent value leaves the condition out', () => {
  assert.equal(where('label', 'eq', undefined), []);
  assert.equal(where('label', 'eq', null), []);
});

test('a list is sorted by columns of its table', () => {
  const page = { limit: 1, offset: 0 };
  const reads = (reader: Reader) => [
    reader.list(jarTable, { ...page, sort: [{ column: 'coins', order: 'asc' }] }),
    // @ts-expect-error: the table has no such column
    reader.list(jarTable, { ...page, sort: [{ column: 'room', order: 'asc' }] }),
    // @ts-expect-error: the table has no such column
    reader.first(jarTable, where('room', 'eq', 'a')),
    reader.list(jarTable, pageRequest(jarTable, {}), [
      ...searchFilters(jarTable, {}),
      ...where('label', 'eq', 'a'),
    ]),
  ];
  assert.type(reads, 'function');
});

test('a statement over several tables knows their columns and no others', () => {
  const reads = (reader: Reader) => [
    reader.query([jarTable], (from) => from.selectFrom('jars').select(['id', 'coins']).limit(1)),
    // @ts-expect-error: the table has no such column
    reader.query([jarTable], (from) => from.selectFrom('jars').select('room').limit(1)),
    // @ts-expect-error: it was not given this table
    reader.query([jarTable], (from) => from.selectFrom('shelves').selectAll().limit(1)),
    // @ts-expect-error: it reads alone
    reader.query([jarTable], (from) => from.deleteFrom('jars').returningAll()),
  ];
  assert.type(reads, 'function');
});

test('work becomes due by a column of instants', () => {
  const work = { name: 'empty jars', table: jarTable, run: async () => undefined };
  assert.is(dueWork({ ...work, column: 'filled_at' }).column, 'filled_at');
  // @ts-expect-error: it holds no instants
  assert.is(dueWork({ ...work, column: 'label' }).column, 'label');
});

test('an event of several aggregates says of which it is', () => {
  const moved = (event: EventFrom<typeof jar | typeof shelf>): string => {
    switch (event.aggregate) {
      case 'jar':
        return String(event.data.coins);
      case 'shelf':
        return event.data.room;
      default:
        return event satisfies never;
    }
  };
  const stamps = { created_at: '', updated_at: '' };
  type Move = typeof stamps & { readonly to: string };
  const both = projection([jar, shelf], {
    name: 'moves',
    version: 1,
    keys: (event) => [event.aggregate_id],
    fold: (_row: Move | null, event) => ({ ...stamps, to: moved(event) }),
    view: (row: Move) => row,
  });
  assert.equal(
    both.aggregates.map(({ name }) => name),
    ['jar', 'shelf'],
  );
});

test('the schemas of a list and of a search take the columns of the table and no other', () => {
  const list = ofTable(jarTable, z.object(listShape));
  const search = ofTable(jarTable, z.object(searchShape).meta({ id: 'JarSearch' }));
  const faults = (schema: z.ZodType, value: object) =>
    schema.safeParse(value).error?.issues.map(({ path }) => path.join('/')) ?? [];
  const filter = (field: string) => ({ field, operator: 'eq', value: { string: 'x' } });
  assert.equal(faults(list, { sort: 'coins' }), []);
  assert.equal(faults(list, { sort: 'price' }), ['sort']);
  assert.equal(faults(search, { sort: 'updated_at', filters: [filter('label')] }), []);
  assert.equal(faults(search, { sort: [{ field: 'label', direction: 'asc' }] }), []);
  assert.equal(faults(search, { filters: [filter('price')] }), ['filters/0/field']);
  assert.equal(search.meta()?.id, 'JarSearch');
});

test.run();
