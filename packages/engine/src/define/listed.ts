import type { Reader } from './context.ts';
import { type Page, pageRequest, type RowFilter, type Search, searchFilters } from './listing.ts';
import type { ColumnTypes, Projection } from './projection.ts';

/** The page of a table that a list asks for which has no filters of its own. */
export const listed = <Row, Resource, Columns extends ColumnTypes>(
  { read }: { readonly read: Reader },
  table: Projection<string, Row, Resource, Columns>,
  query: Partial<Search>,
): Promise<Page<Resource>> =>
  // Filters of the table, whatever its columns are: they follow from it.
  read.list(
    table,
    pageRequest(table, query),
    searchFilters(table, query) as readonly RowFilter<NoInfer<Columns>>[],
  );
