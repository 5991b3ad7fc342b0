import { instantSchema, invalidField, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import type { ColumnType, ColumnTypes, Projection } from './projection.ts';

/** Page sizes (D11). */
export const pageLimits = { minimum: 1, default: 50, maximum: 1000 } as const;

/** The most values that the lists of all filters of one request have together. */
export const filterValuesMaximum = 1_000;

/** Columns that every table has, by type, beside the declared ones. */
export const commonColumns = {
  id: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  status: 'text',
} as const satisfies ColumnTypes;

/** All columns of a table that lists filter and sort by. */
type Listed<Columns extends ColumnTypes> = Columns & typeof commonColumns;

/** The name of a column that a list may be sorted by. */
export type ColumnName<Columns extends ColumnTypes> = keyof Listed<Columns> & string;

/** The page that a list is asked for. Without a status: published records only (D15). */
export interface PageRequest<Column extends string = string> {
  readonly limit: number;
  readonly offset: number;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly sort?:
    | readonly { readonly column: Column; readonly order: 'asc' | 'desc' }[]
    | undefined;
  readonly status?: readonly string[] | undefined;
}

export interface Page<Resource> {
  readonly items: Resource[];
  readonly pagination: { readonly limit: number; readonly offset: number; readonly total: number };
}

/** The values that a column of a type is compared with. Decimals are texts, never numbers. */
interface ComparedValues {
  readonly text: string;
  readonly numeric: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly timestamptz: string;
  /** One of the texts of the list, or all of several. */
  readonly 'text[]': string | readonly string[];
}

type ComparedWith<Type extends ColumnType> = ComparedValues[Type];
type ListedWith<Type extends ColumnType> = Type extends 'text[]' ? string : ComparedValues[Type];

type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';
type Membership = 'in' | 'not_in';
type Containment = 'contains' | 'not_contains';

export type FilterOperator = Comparison | Membership | Containment | 'metadata';

interface Condition<Column extends string, Operator extends FilterOperator, Value> {
  readonly column: Column;
  readonly operator: Operator;
  readonly value: Value;
}

type ConditionsOf<Column extends string, Type extends ColumnType> =
  | Condition<Column, Comparison, ComparedWith<Type>>
  | Condition<Column, Membership, readonly ListedWith<Type>[]>
  | Condition<Column, Containment, string>;

/** A condition as a request states it: the value is held against the column when it is run. */
interface RequestedCondition extends Condition<string, FilterOperator, unknown> {
  /** Its place in the request, to be named when the value does not fit the column. */
  readonly pointer: string;
}

/**
 * One condition on a column of a table. `in` and `not_in` take a list. `metadata` takes a map of which
 * the resource's metadata has all pairs.
 */
export type RowFilter<Columns extends ColumnTypes> =
  | {
      readonly [Column in ColumnName<Columns>]: ConditionsOf<Column, Listed<Columns>[Column]>;
    }[ColumnName<Columns>]
  | Condition<'metadata', 'metadata', Readonly<Record<string, unknown>>>
  | RequestedCondition;

/** The filters that fit a projection's table. */
export type FilterOf<Table> =
  Table extends Projection<string, infer _Row, infer _Resource, infer Columns>
    ? RowFilter<Columns>
    : never;

/** A filter of any table, for the code that runs them. */
export type AnyRowFilter = Condition<string, FilterOperator, unknown> &
  Partial<Pick<RequestedCondition, 'pointer'>>;

/**
 * A condition, left out when the value is absent. The compiler holds column and value against the table
 * where the condition is used.
 */
export const where = <const Column extends string, const Operator extends FilterOperator, Value>(
  column: Column,
  operator: Operator,
  value: Value | null | undefined,
): readonly Condition<Column, Operator, Value>[] =>
  value === undefined || value === null ? [] : [{ column, operator, value }];

const noneIsMeaningless = 'must have at least one item: leave the list out to search without it';

/**
 * Values of which a record must have one, in the body of a search. An empty list is refused: some
 * callers would mean all records, others none.
 */
export const anyOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item).min(1, noneIsMeaningless).max(filterValuesMaximum).optional();

/** The same for texts up to a length. */
export const anyOfTexts = (longest: number) => anyOf(z.string().max(longest));

/** Yes or no, in a query string or a body. */
export const flagParameter = z.union([
  z.boolean(),
  z.enum(['true', 'false']).transform((text) => text === 'true'),
]);

/** A list in a query string: repeated, comma-joined or both (D11). An empty text is an empty list. */
export const listParameter = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((value) =>
      typeof value === 'string'
        ? value.split(',').filter(Boolean)
        : value.flatMap((part) => part.split(',')),
    )
    .pipe(z.array(item).max(filterValuesMaximum));

/** An integer, as a JSON number or as the digits of a query string. */
const integer = (minimum: number, maximum: number) =>
  z
    .union([
      z.number(),
      z
        .string()
        .regex(/^-?\d{1,15}$/, 'must be an integer')
        .transform(Number),
    ])
    .pipe(z.number().int().min(minimum).max(maximum));

const offsetMaximum = 1_000_000_000;

/** `limit` and `offset` of a list whose items are dear, so that a page has few of them. */
export const shortPageShape = <Maximum extends number>(maximum: Maximum) =>
  ({
    limit: integer(pageLimits.minimum, maximum).default(Math.min(pageLimits.default, maximum)),
    offset: integer(0, offsetMaximum).default(0),
  }) as const;

/** `limit` and `offset`, in a query string or a body. */
export const pageShape = shortPageShape(pageLimits.maximum);

/** The parameters that every list takes in its query string. */
export const listShape = {
  ...pageShape,
  order: z.enum(['asc', 'desc']).optional(),
  sort: z.string().min(1).max(64).optional().meta({ description: 'Field to order by' }),
  status: recordStatusSchema.optional(),
  start_time: instantSchema.optional(),
  end_time: instantSchema.optional(),
} as const;

const valueSchema = z.object({
  string: z.string().max(1024).optional(),
  number: z.number().optional(),
  boolean: z.boolean().optional(),
  date: instantSchema.optional(),
  array: z
    .array(z.union([z.string().max(1024), z.number()]))
    .max(filterValuesMaximum)
    .optional(),
});

const searchValueSchema = valueSchema
  .refine(
    (value) => Object.values(value).filter((member) => member !== undefined).length === 1,
    'must have exactly one of its members',
  )
  .meta({
    id: 'SearchValue',
    oneOf: Object.keys(valueSchema.shape).map((name) => ({
      required: [name],
      properties: { [name]: { not: { type: 'null' } } },
    })),
  });

const operatorSchema = z
  .enum(['eq', 'contains', 'not_contains', 'gt', 'gte', 'lt', 'in', 'not_in', 'before', 'after'])
  .meta({ id: 'SearchOperator' });

const listOperators: readonly string[] = ['in', 'not_in'];

const fieldMeta = { description: 'Name of a field' } as const;

/** Null is the same as absent (D6). */
const notNull = { not: { type: 'null' } } as const;

const filterBy = <Field extends z.ZodType<string>>(field: Field) =>
  z
    .object({
      field,
      operator: operatorSchema,
      data_type: z.enum(['string', 'number', 'date', 'array']).optional(),
      value: searchValueSchema,
    })
    .superRefine(({ operator, value }, context) => {
      if (listOperators.includes(operator) === (value.array !== undefined)) return;
      const message = `does not fit the operator ${operator}`;
      context.addIssue({ code: 'custom', path: ['value'], message });
    })
    .meta({
      if: { properties: { operator: { enum: listOperators } } },
      // biome-ignore lint/suspicious/noThenProperty: it is the word of JSON Schema.
      then: { properties: { value: { required: ['array'], properties: { array: notNull } } } },
      else: { properties: { value: { properties: { array: { type: 'null' } } } } },
    });

/** A filter by any field, which that of a table narrows to the fields of the table. */
export const searchFilterSchema = filterBy(z.string().max(64).meta(fieldMeta)).meta({
  id: 'SearchFilter',
  unusedIO: 'input',
});

type SearchFilters = readonly z.input<ReturnType<typeof filterBy>>[];

/** Passes filters on to the checks of their values, unless there are too many of these. */
function countValues(filters: SearchFilters, context: z.RefinementCtx): SearchFilters {
  if (!Array.isArray(filters)) return filters;
  const count = filters.reduce((sum, filter) => sum + (filter?.value?.array?.length ?? 0), 0);
  if (!(count > filterValuesMaximum)) return filters;
  context.addIssue(`must have at most ${filterValuesMaximum} values in all`);
  return z.NEVER;
}

const filtersBy = <Field extends z.ZodType<string>>(field: Field) =>
  z
    .preprocess(countValues, z.array(filterBy(field).meta({ narrows: 'SearchFilter' })).max(50))
    .optional();

const sortedBy = <Field extends z.ZodType<string>>(field: Field) =>
  z.object({ field, direction: z.enum(['asc', 'desc']) });

/** An order by any field, which that of a table narrows to the fields of the table. */
export const searchSortSchema = sortedBy(z.string().max(64).meta(fieldMeta)).meta({
  id: 'SearchSort',
  unusedIO: 'input',
});

/** Orders by one field, in the direction of `order`, or by several. */
const sortsBy = <Field extends z.ZodType<string>>(field: Field) =>
  z
    .union([field, z.array(sortedBy(field).meta({ narrows: 'SearchSort' })).max(8)])
    .optional()
    .meta({ description: 'Fields to order by, or one, in the direction of `order`' });

/** The fields that every search takes in its body beside its own and `expand`. */
export const searchShape = {
  ...listShape,
  sort: sortsBy(z.string().min(1).max(64)),
  filters: filtersBy(z.string().max(64)),
} as const;

/** A search as the documentation shows it. */
export const searchExample = { limit: 20, order: 'desc' } as const;

const searchSchema = z.object(searchShape);
export type Search = z.output<typeof searchSchema>;

/** The fields that paging and filtering read. */
type SearchParts = Partial<Search>;

const columnOperators = { before: 'lt', after: 'gt' } as const;

/** The part of a projection that requests are held against. */
interface WithColumns<Columns extends ColumnTypes> {
  readonly name: string;
  readonly columns: { readonly [Name in keyof Columns]: { readonly type: Columns[Name] } };
}

const hasColumn = <Columns extends ColumnTypes>(
  { columns }: WithColumns<Columns>,
  name: string,
): name is ColumnName<Columns> =>
  Object.hasOwn(commonColumns, name) || Object.hasOwn(columns, name);

const columnSchemas = new Map<string, z.ZodType<string>>();

/** The names of the columns that lists of a table are ordered and filtered by: one schema for each table. */
function columnSchema({ name, columns }: WithColumns<ColumnTypes>): z.ZodType<string> {
  const names = [...new Set([...Object.keys(commonColumns), ...Object.keys(columns)])].sort();
  const id = `${name.replace(/(?:^|_)[a-z]/g, (start) => start.slice(-1).toUpperCase())}Field`;
  const schema = columnSchemas.get(name) ?? z.enum(names).meta({ id });
  columnSchemas.set(name, schema);
  return schema;
}

/**
 * The schema of a list's query or a search's body, with no other columns in `sort` and `filters` than those of
 * its table.
 */
export function ofTable<Schema extends z.ZodObject>(
  table: WithColumns<ColumnTypes>,
  schema: Schema,
): Schema {
  const column = columnSchema(table);
  const isSearch = 'filters' in schema.shape;
  const shape = {
    sort: isSearch ? sortsBy(column) : column.optional().meta(listShape.sort.meta() ?? {}),
    ...(isSearch && { filters: filtersBy(column) }),
  };
  return schema.extend(shape).meta(schema.meta() ?? {}) as unknown as Schema;
}

/**
 * The conditions of a list or search that are the same for every resource. Refuses unknown fields.
 *
 * @param timed the column that the period is about
 */
export function searchFilters<Columns extends ColumnTypes>(
  table: WithColumns<Columns>,
  search: SearchParts,
  timed: ColumnName<NoInfer<Columns>> = 'created_at',
): RowFilter<Columns>[] {
  const ranges = [
    { operator: 'gte', value: search.start_time, pointer: '/start_time' },
    { operator: 'lte', value: search.end_time, pointer: '/end_time' },
  ] as const;
  if (search.start_time && search.end_time && search.end_time < search.start_time) {
    throw invalidField('/end_time', 'must not be before start_time');
  }
  const fields = (search.filters ?? []).map((filter, index): RequestedCondition => {
    if (!hasColumn(table, filter.field)) {
      throw invalidField(`/filters/${index}/field`, `cannot filter by ${filter.field}`);
    }
    const [given] = Object.values(filter.value).filter((value) => value !== undefined);
    const { operator } = filter;
    return {
      column: filter.field,
      operator:
        operator === 'before' || operator === 'after' ? columnOperators[operator] : operator,
      value: given,
      pointer: `/filters/${index}/value`,
    };
  });
  return [
    ...ranges
      .filter(({ value }) => value !== undefined)
      .map((range) => ({ column: timed, ...range })),
    ...fields,
  ];
}

/** The page that a list or search asks for. Refuses unknown sort fields. */
export function pageRequest<Columns extends ColumnTypes>(
  table: WithColumns<Columns>,
  search: SearchParts,
): PageRequest<ColumnName<Columns>> {
  const { sort: asked = [], order = 'desc' } = search;
  const fields =
    typeof asked === 'string'
      ? [{ field: asked, direction: order, pointer: '/sort' }]
      : asked.map((entry, index) => ({ ...entry, pointer: `/sort/${index}/field` }));
  const sort = fields.map(({ field, direction, pointer }) => {
    if (!hasColumn(table, field)) throw invalidField(pointer, `cannot sort by ${field}`);
    return { column: field, order: direction };
  });
  return {
    limit: search.limit ?? pageLimits.default,
    offset: search.offset ?? 0,
    order: search.order,
    ...(sort.length > 0 && { sort }),
    status: search.status ? [search.status] : undefined,
  };
}

/** The place of a page in its list, on the wire. */
export const paginationSchema = z
  .object({ limit: z.number().int(), offset: z.number().int(), total: z.number().int() })
  .meta({ id: 'Pagination' });

const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), pagination: paginationSchema });

const pages = new WeakMap<z.ZodType, z.ZodType>();

/** Wire shape of a page of a resource. It is one schema for each, which documents name after the resource. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  const known = pages.get(item) as ReturnType<typeof pageOf<Item>> | undefined;
  const page = known ?? pageOf(item).meta({ id: `${z.globalRegistry.get(item)?.id}Page` });
  pages.set(item, page);
  return page;
}
