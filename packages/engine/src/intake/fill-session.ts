import type { Connection, StatementOptions } from '../database/database.ts';
import type { FillSession } from '../define/intake.ts';
import { quoted } from '../projection/table-shape.ts';

/** Characters of rows that are sent together. */
const chunkCharacters = 64 * 1024;

/** The session of a filling: statements and copies over one connection. */
export const fillSession = (
  connection: Connection,
  schema: string,
  limits: Pick<StatementOptions, 'timeoutMs'> = {},
): FillSession => ({
  schema,
  query: (text, values = []) =>
    connection.query(text, values, { prepared: values.length > 0, ...limits }),
  async copy(relation, columns, lines) {
    if (lines.length === 0) return;
    const names = columns.map(quoted).join(', ');
    await connection.copy(
      `copy ${schema}.${quoted(relation)} (${names}) from stdin`,
      chunksOf(lines),
    );
  },
});

function* chunksOf(lines: readonly string[]): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < chunkCharacters) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
