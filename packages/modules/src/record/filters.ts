import {
  anyOfTexts,
  type ColumnTypes,
  listParameter,
  type RowFilter,
  where,
} from '@counterfoil/engine/define';
import type { Metadata } from '@counterfoil/kernel';
import { z } from 'zod';
import { lowerCase } from './definition.ts';

/**
 * A member of a list's query string and of a search's body that narrows down what is found. `conditions`
 * gives what it means for the rows.
 */
export interface Filter<
  Parameter extends z.ZodType = z.ZodType,
  Member extends z.ZodType = z.ZodType,
  Condition = unknown,
> {
  readonly parameter: Parameter;
  readonly member: Member;
  readonly conditions: (value: z.output<Member>) => readonly Condition[];
  /** The column that it looks at. */
  readonly column: string;
  /** The kind of record, by its prefix, that values name by their ids or by `prefix.field`. */
  readonly names?: string;
}

/** Filters by the names that requests call them by, each on a column that the table has. */
export type Filters<Columns extends ColumnTypes> = Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: each filter has schemas of its own.
  Record<string, Filter<any, any, RowFilter<Columns>>>
>;

/** The parameters of a query string that filters make. */
export const parametersOf = <Own extends Filters<ColumnTypes>>(filters: Own) =>
  Object.fromEntries(Object.entries(filters).map(([name, { parameter }]) => [name, parameter])) as {
    [Name in keyof Own]: Own[Name]['parameter'];
  };

/** The members of a body that filters make. */
export const membersOf = <Own extends Filters<ColumnTypes>>(filters: Own) =>
  Object.fromEntries(Object.entries(filters).map(([name, { member }]) => [name, member])) as {
    [Name in keyof Own]: Own[Name]['member'];
  };

/** The conditions of a list or search that has values for some of the filters. */
export const conditionsOf = <Columns extends ColumnTypes>(
  filters: Filters<Columns>,
  search: Readonly<Record<string, unknown>>,
): RowFilter<Columns>[] =>
  Object.entries(filters).flatMap(([name, { conditions }]) => [...conditions(search[name])]);

type Where<Column extends string, Operator extends 'eq' | 'in' | 'contains', Value> = ReturnType<
  typeof where<Column, Operator, Value>
>[number];

/** Records whose column is one of several texts of up to a length, whatever their case if asked. */
export const oneOf = <const Column extends string>(
  column: Column,
  longest: number,
  { ignoresCase = false, names }: { readonly ignoresCase?: boolean; readonly names?: string } = {},
): Filter<
  z.ZodOptional<ReturnType<typeof listParameter<z.ZodString>>>,
  ReturnType<typeof anyOfTexts>,
  Where<Column, 'in', readonly string[]>
> => ({
  parameter: listParameter(z.string()).optional(),
  member: anyOfTexts(longest),
  ...{ column, ...(names && { names }) },
  conditions: (texts) => where(column, 'in', ignoresCase ? texts?.map(lowerCase) : texts),
});

/** Records whose column is exactly this. */
export const equalTo = <const Column extends string, Schema extends z.ZodType<string>>(
  column: Column,
  schema: Schema,
  { names }: { readonly names?: string } = {},
): Filter<z.ZodOptional<Schema>, z.ZodOptional<Schema>, Where<Column, 'eq', string>> => ({
  parameter: schema.optional(),
  member: schema.optional(),
  ...{ column, ...(names && { names }) },
  conditions: (value) => where(column, 'eq', value as string | undefined),
});

/** A member that requests may have and that finds nothing else. */
export const accepted = <Schema extends z.ZodType>(
  schema: Schema,
): Filter<Schema, Schema, never> => ({
  parameter: schema,
  member: schema,
  column: '',
  conditions: () => [],
});

/** Records whose metadata has all pairs of a map. */
export const withMetadata = <Schema extends z.ZodType<Metadata | undefined>>(
  schema: Schema,
): Filter<Schema, Schema, ReturnType<typeof where<'metadata', 'metadata', Metadata>>[number]> => ({
  ...{ parameter: schema, member: schema, column: 'metadata' },
  conditions: (pairs) => where('metadata', 'metadata', pairs as Metadata | undefined),
});

/** Records whose column has a text in it, in whatever case. */
export const containing = <const Column extends string>(
  column: Column,
  longest: number,
): Filter<
  z.ZodOptional<z.ZodString>,
  z.ZodOptional<z.ZodString>,
  Where<Column, 'contains', string>
> => ({
  parameter: z.string().max(longest).optional(),
  member: z.string().max(longest).optional(),
  column,
  conditions: (text) => where(column, 'contains', text),
});
