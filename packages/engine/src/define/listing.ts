import { instantSchema, invalidField, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import type { AnyReadTable } from './read-table.ts';

/** Page sizes (D11). */
export const pageLimits = { minimum: 1, default: 50, maximum: 1000 } as const;

/** The page that a list is asked for. Without a status: published records only (D15). */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly sort?:
    | readonly { readonly column: string; readonly order: 'asc' | 'desc' }[]
    | undefined;
  readonly status?: readonly string[] | undefined;
}

export interface Page<Resource> {
  readonly items: Resource[];
  readonly pagination: { readonly limit: number; readonly offset: number; readonly total: number };
}

export type FilterOperator =
  | 'eq'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'in'
  | 'not_in'
  | 'contains'
  | 'not_contains'
  /** `value` is a map; the resource's metadata has all its pairs. */
  | 'metadata';

/** One condition on a column of a read table. `in` and `not_in` take a list. */
export interface RowFilter {
  readonly column: string;
  readonly operator: FilterOperator;
  readonly value: unknown;
  /** Its place in the request, to be named when the value does not fit the column. */
  readonly pointer?: string;
}

/** A condition, left out when the value is absent. */
export const where = (
  column: string,
  operator: FilterOperator,
  value: unknown,
): readonly RowFilter[] =>
  value === undefined || value === null ? [] : [{ column, operator, value }];

const noneIsMeaningless = 'must have at least one item: leave the list out to search without it';

/**
 * Values of which a record must have one, in the body of a search. An empty list is refused: some
 * callers would mean all records, others none.
 */
export const anyOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item).min(1, noneIsMeaningless).max(1000).optional();

/** The same for texts up to a length. */
export const anyOfTexts = (longest: number) => anyOf(z.string().max(longest));

/** Yes or no, in a query string or a body. */
export const flagParameter = z.union([
  z.boolean(),
  z.enum(['true', 'false']).transform((text) => text === 'true'),
]);

/** A list in a query string: repeated, comma-joined or both (D11). */
export const listParameter = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((value) =>
      [value]
        .flat()
        .flatMap((part) => part.split(','))
        .filter(Boolean),
    )
    .pipe(z.array(item).max(1000));

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

/** `limit` and `offset`, in a query string or a body. */
export const pageShape = {
  limit: integer(pageLimits.minimum, pageLimits.maximum).default(pageLimits.default),
  offset: integer(0, offsetMaximum).default(0),
} as const;

/** The parameters that every list takes in its query string. */
export const listShape = {
  ...pageShape,
  order: z.enum(['asc', 'desc']).optional(),
  status: recordStatusSchema.optional(),
  start_time: instantSchema.optional(),
  end_time: instantSchema.optional(),
} as const;

const searchValueSchema = z.object({
  string: z.string().max(1024).optional(),
  number: z.number().optional(),
  boolean: z.boolean().optional(),
  date: instantSchema.optional(),
  array: z
    .array(z.union([z.string().max(1024), z.number()]))
    .max(1000)
    .optional(),
});

const searchFilterSchema = z.object({
  field: z.string().max(64),
  operator: z.enum([
    'eq',
    'contains',
    'not_contains',
    'gt',
    'gte',
    'lt',
    'in',
    'not_in',
    'before',
    'after',
  ]),
  data_type: z.enum(['string', 'number', 'date', 'array']).optional(),
  value: searchValueSchema,
});

/** The fields that every search takes in its body beside its own. */
export const searchShape = {
  ...listShape,
  sort: z
    .array(z.object({ field: z.string().max(64), direction: z.enum(['asc', 'desc']) }))
    .max(8)
    .optional(),
  filters: z.array(searchFilterSchema).max(50).optional(),
  expand: z.string().max(256).optional(),
} as const;

const searchSchema = z.object(searchShape);
export type Search = z.output<typeof searchSchema>;

/** The fields that paging and filtering read. The names in `expand` differ by resource. */
type SearchParts = Partial<Omit<Search, 'expand'>>;

const columnOperators = { before: 'lt', after: 'gt' } as const;

/** Columns that every read table has. */
export const commonColumns = ['id', 'created_at', 'updated_at', 'status'] as const;

const hasColumn = (table: AnyReadTable, name: string): boolean =>
  (commonColumns as readonly string[]).includes(name) || Object.hasOwn(table.columns, name);

/** The conditions of a list or search that are the same for every resource. Refuses unknown fields. */
export function searchFilters(table: AnyReadTable, search: SearchParts): RowFilter[] {
  const ranges = [
    ...where('created_at', 'gte', search.start_time),
    ...where('created_at', 'lte', search.end_time),
  ];
  if (search.start_time && search.end_time && search.end_time < search.start_time) {
    throw invalidField('/end_time', 'must not be before start_time');
  }
  const fields = (search.filters ?? []).map((filter, index): RowFilter => {
    if (!hasColumn(table, filter.field)) {
      throw invalidField(`/filters/${index}/field`, `cannot filter by ${filter.field}`);
    }
    const given = Object.values(filter.value).filter((value) => value !== undefined);
    if (given.length !== 1) {
      throw invalidField(`/filters/${index}/value`, 'must have exactly one of its members');
    }
    const isList = filter.operator === 'in' || filter.operator === 'not_in';
    if (isList !== Array.isArray(given[0])) {
      throw invalidField(`/filters/${index}/value`, `does not fit the operator ${filter.operator}`);
    }
    const { operator } = filter;
    return {
      column: filter.field,
      operator:
        operator === 'before' || operator === 'after' ? columnOperators[operator] : operator,
      value: given[0],
      pointer: `/filters/${index}/value`,
    };
  });
  return [...ranges, ...fields];
}

/** The page that a list or search asks for. Refuses unknown sort fields. */
export function pageRequest(table: AnyReadTable, search: SearchParts): PageRequest {
  const sort = search.sort?.map((entry, index) => {
    if (!hasColumn(table, entry.field)) {
      throw invalidField(`/sort/${index}/field`, `cannot sort by ${entry.field}`);
    }
    return { column: entry.field, order: entry.direction };
  });
  return {
    limit: search.limit ?? pageLimits.default,
    offset: search.offset ?? 0,
    order: search.order,
    sort,
    status: search.status ? [search.status] : undefined,
  };
}

/** Wire shape of a page of a resource. */
export const pageSchema = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    pagination: z.object({
      limit: z.number().int(),
      offset: z.number().int(),
      total: z.number().int(),
    }),
  });
