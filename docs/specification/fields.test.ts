import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('fields of the specification');

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const { schemas } = JSON.parse(textOf('../reference/openapi.json')).components as {
  readonly schemas: Readonly<Record<string, Schema>>;
};

/** The names of the fields of a schema, whichever of its forms they stand in. */
function fieldsOf({ $ref, properties = {}, allOf = [], anyOf = [], oneOf = [] }: Schema): string[] {
  const referred = $ref === undefined ? undefined : schemas[$ref.split('/').at(-1) ?? ''];
  const parts = [...allOf, ...anyOf, ...oneOf, ...(referred ? [referred] : [])];
  return [...Object.keys(properties), ...parts.flatMap(fieldsOf)];
}

/** The names that stand in backticks, as far as they are names of fields. */
const quoted = (text: string): string[] =>
  [...text.matchAll(/`([a-z_0-9]+)`/g)].map(([, name = '']) => name);

/**
 * The fields of each resource of section 2: of its table, or of the sentence that begins with its name. What stands in
 * parentheses, and in lines that say more about a field, is about values and members.
 */
function specifiedFields(): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const [, section = ''] = textOf('interface.md').split(/^## [23]\. .*$/m);
  for (const part of section.split(/^### /m).slice(2)) {
    const [title = ''] = part.split('\n');
    const name = title.replace(/^[\d.]+ /, '');
    const rows = [...part.matchAll(/^\| ([a-z_0-9, ]+) \|/gm)].flatMap(([, names = '']) =>
      names.split(', '),
    );
    const [, sentence = ''] = part.split('\n\n');
    if (!/^\*\*/.test(sentence) && !/ and /.test(name)) {
      found.set(name, rows.length > 0 ? rows : quoted(sentence.replaceAll(/\([^)]*\)/g, '')));
    }
    for (const [, own = '', text = ''] of part.matchAll(/^\*\*(\w+)\*\*[^:]*: ((?:.+\n)+)/gm)) {
      const [core = ''] = text.split('D1: ');
      found.set(own, quoted(core.replaceAll(/\([^)]*\)/g, '')));
    }
  }
  return found;
}

/** Resources and fields that are not served yet. */
const toCome = ['Tax'];

/** Names that are those of a member of a field, or of a record that stands inside only where it is asked for. */
const elsewhere = new Set([
  'AlertSettings.threshold',
  ...['wallet', 'customer', 'created_by_user'].map((name) => `WalletTransaction.${name}`),
]);

test('every field that section 2 names is one of the published interface, except those to come', () => {
  const specified = [...specifiedFields()];
  assert.ok(specified.length > 30, `${specified.length} resources are specified`);
  const missing = specified.flatMap(([name, fields]) => {
    const schema = schemas[name];
    if (schema === undefined) return [name];
    const published = new Set(fieldsOf(schema));
    return fields.filter((field) => !published.has(field)).map((field) => `${name}.${field}`);
  });
  const found = missing.filter((name) => !elsewhere.has(name));
  assert.equal(found.sort(), toCome.toSorted(), 'what is missing is what is to come');
});

test.run();
