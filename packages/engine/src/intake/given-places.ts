import type { QueryCreator } from 'kysely';
import { preparedName } from '../database/database.ts';
import { anyStatement } from '../database/statements.ts';
import type { FactStatement, GivenValues } from '../define/intake.ts';

/** A statement as it is sent. */
export interface SentStatement {
  /** The name under which the session keeps it. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** Stands for a value that comes later. */
class GivenPlace {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A place for each value that is asked for by its name. */
const places = new Proxy({}, { get: (_, name) => new GivenPlace(String(name)) });

interface Written {
  readonly schema: string;
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** To write a statement takes longer than to run it. Tables are exchanged seldom, and then it is written again. */
const written = new WeakMap<object, Written>();

/** A statement on the tables in a schema, with its values. */
export function statementWith<Tables extends object, Given extends GivenValues, Row>(
  statement: FactStatement<Tables, Given, Row>,
  schema: string,
  given: Given,
): SentStatement {
  const { text, parameters } = writtenFor(statement, schema);
  return {
    name: preparedName(text),
    text,
    values: parameters.map((one) => (one instanceof GivenPlace ? given[one.name] : one)),
  };
}

function writtenFor<Tables extends object, Given extends GivenValues, Row>(
  statement: FactStatement<Tables, Given, Row>,
  schema: string,
): Written {
  const known = written.get(statement);
  if (known?.schema === schema) return known;
  const builder = anyStatement.withSchema(schema) as unknown as QueryCreator<Tables>;
  const { sql: text, parameters } = statement.write(builder, places as Given).compile();
  const made = { schema, text, parameters };
  written.set(statement, made);
  return made;
}
