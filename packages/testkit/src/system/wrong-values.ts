import { type Field, fieldsIn, fieldsOfPart, type Operation, type Schema } from './operations.ts';

/** A value that a place of a request cannot have. */
export interface WrongValue {
  readonly part: 'query' | 'body';
  readonly path: Field['path'];
  readonly value: unknown;
}

/** Stands for a number literal that JSON.stringify would not write; see `bodyText`. */
export class NumberLiteral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The JSON text of a body, number literals as they are given. */
export function bodyText(body: unknown): string {
  const literals: string[] = [];
  const text = JSON.stringify(body, (_, value: unknown) => {
    if (!(value instanceof NumberLiteral)) return value;
    literals.push(value.text);
    return `\u0001literal\u0001`;
  });
  return text.replaceAll('"\\u0001literal\\u0001"', () => literals.shift() ?? '');
}

/** One value of each JSON type. */
const samples: Readonly<Record<string, unknown>> = {
  string: 'text',
  number: 7.5,
  integer: 7,
  boolean: true,
  null: null,
  array: [],
  object: {},
};

const isNumeric = (type: string): boolean => type === 'number' || type === 'integer';

function allows(types: ReadonlySet<string>, type: string): boolean {
  if (type === 'integer') return types.has('integer') || types.has('number');
  return types.has(type);
}

const wrongTypes = ({ types }: Field): unknown[] =>
  types.size === 0
    ? []
    : Object.entries(samples)
        .filter(([type]) => !allows(types, type))
        .map(([, value]) => value);

const wrongDates = [
  '20250231',
  '2025-02-31T00:00:00Z',
  '2025-13-01T00:00:00Z',
  '2025-01-01',
  '2025-01-01T24:00:00Z',
  '2025-01-01T00:60:00Z',
  '0000-06-01T00:00:00Z',
  '2025-01-01T00:00:00',
  '2025-01-01 00:00:00Z',
  '0000-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00',
  '+012025-01-01T00:00:00Z',
  '1735689600',
  'now',
  '',
];

const digits39 = '123456789012345678901234567890123456789';

/** Texts that are no decimals, or none with at most so many fraction digits. */
const wrongDecimals = (places: number): string[] => [
  '',
  ' ',
  ' 1',
  '1 ',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e3',
  '1E-3',
  '0x10',
  '+1',
  '.5',
  '1.',
  '--1',
  '1,5',
  '1_000',
  '١',
  'null',
  digits39,
  `-${digits39}`,
  `0.${'0'.repeat(places)}1`,
  '9'.repeat(65),
];

const wrongDecimalNumbers = (places: number): unknown[] => [
  new NumberLiteral(digits39),
  new NumberLiteral('1e39'),
  new NumberLiteral('1e400'),
  new NumberLiteral(`1e-${places + 1}`),
  new NumberLiteral('0.1234567890123456789'),
];

const decimalPlacesOf = ({ pattern }: Schema): number | null => {
  const [, places] = /\(\\\.\\d\{1,(\d+)\}0\*\)/.exec(pattern ?? '') ?? [];
  return places === undefined ? null : Number(places);
};

/** Returns values whose length or size is wrong. */
function wrongSizes(schema: Schema): unknown[] {
  const { maxLength, minLength, maxItems, minimum, maximum, items } = schema;
  const item = items?.type === 'string' ? 'x' : null;
  return [
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(minLength ? [''] : []),
    ...(maxItems === undefined || item === null ? [] : [Array(maxItems + 1).fill(item)]),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
  ];
}

const unstorable = ['a\0b', '\0'];
/** Only JSON can carry these; a query is UTF-8. */
const loneSurrogates = ['a\ud800', '\udfffb'];

const pairs = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, 'value']));

/** Maps of texts, such as metadata: wrong keys, wrong values, too many of them. */
const wrongMaps = ({ additionalProperties: others }: Schema): unknown[] =>
  typeof others === 'object' && others.type === 'string'
    ? [
        pairs(51),
        { '': 'value' },
        { ['k'.repeat(1_000)]: 'value' },
        { 'a\0b': 'value' },
        { 'a\ud800': 'value' },
        { key: 'v'.repeat((others.maxLength ?? 1_024) + 1) },
        { key: 7 },
        { key: null },
        { key: {} },
        { key: 'a\0b' },
      ]
    : [];

function wrongTexts({ schemas, types }: Field): string[] {
  if (!types.has('string')) return [];
  const isEnum = schemas.some((schema) => schema.enum ?? schema.const);
  const places = schemas.map(decimalPlacesOf).find((found) => found !== null);
  return [
    ...unstorable,
    ...(isEnum ? ['NO_SUCH_VALUE', ''] : []),
    ...(schemas.some(({ format }) => format === 'date-time') ? wrongDates : []),
    ...(schemas.some(({ format }) => format === 'email')
      ? ['nobody', 'a@', '@b.c', 'a b@c.d']
      : []),
    ...(places === undefined || places === null ? [] : wrongDecimals(places)),
  ];
}

/** Values of a JSON body that must be refused, each for itself. */
function wrongInBody(field: Field): unknown[] {
  const { schemas, types } = field;
  const places = schemas.map(decimalPlacesOf).find((found) => found !== null) ?? null;
  const isInteger = types.has('integer') && !types.has('number');
  return [
    ...wrongTypes(field),
    ...wrongTexts(field),
    ...(types.has('string') ? loneSurrogates : []),
    ...schemas.flatMap(wrongSizes),
    ...schemas.flatMap(wrongMaps),
    ...(places === null ? [] : wrongDecimalNumbers(places)),
    ...(isInteger ? [1.5, new NumberLiteral('1e400')] : []),
    ...([...types].some(isNumeric) ? [new NumberLiteral('9007199254740993')] : []),
  ];
}

/** Values of the query that must be refused. Everything there is a text, or several. */
const wrongInQuery = (field: Field): unknown[] => [
  ...wrongTexts(field),
  ...field.schemas.flatMap(wrongSizes).filter((value) => typeof value === 'string'),
];

/** Values that are tried where a field of the same name and schema was tried with all of them. */
const fewValues = 4;

/**
 * Everything wrong that the documentation of an operation lets us know of. Fields that operations
 * have in common, such as those of all searches, are tried with all values once, at the first
 * operation that has them, and with a few at the others; `seen` remembers them.
 */
export function wrongValues(operation: Operation, seen: Set<string>): WrongValue[] {
  const valuesOf = (part: WrongValue['part'], field: Field): WrongValue[] => {
    const values = part === 'query' ? wrongInQuery(field) : wrongInBody(field);
    const name = JSON.stringify([part, field.path, field.schemas]);
    const isKnown = seen.has(name);
    seen.add(name);
    const tried = isKnown ? values.slice(0, fewValues) : values;
    return tried.map((value) => ({ part, path: field.path, value }));
  };
  return [
    ...fieldsOfPart(operation.query).flatMap((field) => valuesOf('query', field)),
    ...(operation.body ? fieldsIn(operation.body) : []).flatMap((field) => valuesOf('body', field)),
  ];
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** Bodies that are no JSON object that could be read. */
export const malformedBodies: readonly (string | Uint8Array)[] = [
  '{',
  '{"a":1}x',
  '{"a":1,}',
  "{'a':1}",
  '[1,',
  'nonsense',
  'null',
  '[]',
  '[{}]',
  '"text"',
  '7',
  'NaN',
  'true',
  '\0',
  '{"a":"\u0000"}',
  '{"a":"\\u0000"}',
  '{"a":"\\ud800"}',
  '{"\\udc00":1}',
  `{"a":${nested(100)}}`,
  `{"a":${nested(20_000)}}`,
  `{"a":${digits39}}`,
  '{"a":1e999}',
  Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
  Uint8Array.of(0x1f, 0x8b, 0x08),
];
