import type { AnyProjection, ColumnType } from '../define/projection.ts';
import {
  cleanText,
  columnNames,
  encodeValue,
  jsonText,
  metadataText,
  type Row,
  statusOf,
} from '../projection/row.ts';
import { type FixedColumn, fixedColumns, quoted } from '../projection/table-shape.ts';
import type { RowText } from './row-difference.ts';

/**
 * Expressions for the columns of a row as text, in the order of `columnNames`. The state is not in
 * the view that readers see and comes from the table.
 */
export const shownTexts = (table: AnyProjection, shown: string, stored: string): string[] =>
  columnNames(table).map((name) => {
    const column = `${name === 'state' ? stored : shown}.${quoted(name)}`;
    return table.columns[name]?.type === 'text[]'
      ? `array_to_json(${column})::text`
      : `${column}::text`;
  });

/**
 * The same texts of a row that the log says there is. Postgres may write a value in another way,
 * such as a number that was given with an exponent; two rows with equal texts are equal, two with
 * different texts may be. Throws on a value that does not fit its column.
 */
export function expectedTexts(table: AnyProjection, row: Row): RowText {
  const { resource } = row;
  const fixed: Record<FixedColumn, string | null> = {
    id: row.id,
    tenant_id: row.tenantId,
    environment_id: row.environmentId,
    status: statusOf(row),
    created_at: instantText(row.createdAt),
    updated_at: instantText(row.updatedAt),
    revision: String(row.revision),
    position: row.position,
    state: row.state === resource ? null : jsonText(row.state),
    resource: resource === null ? null : jsonText(resource),
    metadata: metadataText(resource?.metadata),
  };
  const texts = (Object.keys(fixedColumns) as FixedColumn[]).map((name) => fixed[name]);
  for (const { type, of } of Object.values(table.columns)) {
    texts.push(resource === null ? null : valueText(type, of(resource, row.state)));
  }
  return texts;
}

function valueText(type: ColumnType, value: unknown): string | null {
  const text = encodeValue(type, value);
  if (text === null) return null;
  if (type === 'timestamptz') return instantText(text);
  if (type !== 'text[]') return text;
  return JSON.stringify((value as readonly unknown[]).map((item) => cleanText(String(item))));
}

const instantShape = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/;

/** An instant as Postgres writes it in a session that is set to UTC; other texts as they are. */
function instantText(text: string): string {
  const [, date, time, fraction = ''] = instantShape.exec(text) ?? [];
  if (!date || !time) return text;
  const digits = fraction.replace(/0+$/, '');
  return `${date} ${time}${digits === '' ? '' : `.${digits}`}+00`;
}
