import { isMap } from './fields.ts';

type Json = Record<string, unknown>;

/** A schema of an object with a name, and what it is compared with others by. */
interface Member {
  readonly name: string;
  readonly schema: Json & { readonly properties: Json };
  /** The words of its name that say what it is about. */
  readonly words: readonly string[];
  /** True where it refuses members that it does not name. */
  readonly isClosed: boolean;
  /** The texts of its fields, by name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Schemas with fields in common, such as all searches. */
interface Family {
  /** The name of the schema of these fields. */
  readonly name: string;
  readonly members: readonly [Member, ...Member[]];
  /** The names of the fields that all members have alike. */
  readonly equal: readonly string[];
  /** The names of the fields that all members describe alike, and restrict each in its own way. */
  readonly alike: readonly string[];
  /** The characters that it saves to write these fields once. */
  readonly saving: number;
}

/** A family pays for its name when it saves so many characters. */
const worthwhile = 150;

/** Words of names that say what is done and not with what. */
const actions: ReadonlySet<string> = new Set(['Create', 'Update', 'Change']);

/** Keywords by which a schema refuses members that it does not name. */
const closing = ['additionalProperties', 'unevaluatedProperties'];

/** Fields with objects in them get a schema with a name elsewhere: generators make a class of each. */
const holdsObjects = /"object"|"properties"/;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const familyName = (words: readonly string[]): string => `${words.join('')}Fields`;

const baseOf = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

function memberOf([name, schema]: [string, unknown]): Member[] {
  if (!isMap(schema) || !isMap(schema.properties) || name.endsWith(familyName([]))) return [];
  const { properties } = schema;
  const texts = Object.entries(properties).map(
    ([field, value]) => [field, JSON.stringify(value)] as const,
  );
  return [
    {
      name,
      schema: { ...schema, properties },
      words: (name.match(/[A-Z][a-z]*/g) ?? []).filter((word) => !actions.has(word)),
      isClosed: closing.some((keyword) => keyword in schema),
      fields: new Map(texts),
    },
  ];
}

function descriptionOf({ schema }: Member, field: string): unknown {
  const value = schema.properties[field];
  return isMap(value) ? value.description : undefined;
}

/** Returns the family of all that have in common what two of them have, under the words that these share. */
function familyOf(first: Member, second: Member, all: readonly Member[]): Family | null {
  const common = first.words.filter((word) => second.words.includes(word));
  if (common.length === 0 || first.isClosed !== second.isClosed) return null;
  const shared = [...first.fields].filter(
    ([field, text]) => second.fields.get(field) === text && !holdsObjects.test(text),
  );
  const others = all.filter(
    (member) =>
      member !== first &&
      member.isClosed === first.isClosed &&
      common.every((word) => member.words.includes(word)) &&
      shared.every(([field, text]) => member.fields.get(field) === text),
  );
  const equal = shared.map(([field]) => field);
  const alike = [...first.fields.keys()].filter((field) => {
    const text = descriptionOf(first, field);
    const isSame = (member: Member): boolean => descriptionOf(member, field) === text;
    return !equal.includes(field) && text !== undefined && others.every(isSame);
  });
  const name = familyName(common);
  const once = shared.reduce((sum, [field, text]) => sum + `"${field}":${text},`.length, 0);
  const texts = alike.reduce((sum, field) => {
    return sum + `"description":"${descriptionOf(first, field)}",`.length;
  }, 0);
  const extending = JSON.stringify({ allOf: [baseOf(name)] }).length;
  const own = `"${name}":{"type":"object","properties":{},"required":[]},`.length;
  const saving = others.length * (once + texts) - (others.length + 1) * extending - own;
  return { name, members: [first, ...others], equal, alike, saving };
}

/** Returns the family that saves most, if any is worth it. */
function bestFamily(all: readonly Member[], taken: Json): Family | null {
  let best: Family | null = null;
  for (const [index, first] of all.entries()) {
    for (const second of all.slice(index + 1)) {
      const family = familyOf(first, second, all);
      if (family === null || family.name in taken) continue;
      if (family.saving > (best?.saving ?? worthwhile)) best = family;
    }
  }
  return best;
}

/** The fields that all members of a family need among those that they have alike. */
const neededBy = ({ members, equal }: Family): string[] =>
  equal.filter((field) => members.every(({ schema }) => listOf(schema.required).includes(field)));

/** The schema of what the members of a family have in common. It takes further members, so that they can extend it. */
function commonSchema(family: Family): Json {
  const { members, equal, alike } = family;
  const [first] = members;
  const required = neededBy(family);
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...equal.map((field) => [field, first.schema.properties[field]]),
      ...alike.map((field) => [field, { description: descriptionOf(first, field) }]),
    ]),
    ...(required.length > 0 && { required }),
  };
}

/** The schema of a member of a family as what it has beside the common fields. */
function ownSchema({ schema, isClosed }: Member, family: Family): Json {
  const { properties, required, allOf, ...rest } = schema;
  const others = Object.entries(rest).filter(([keyword]) => !closing.includes(keyword));
  const own = Object.entries(properties).flatMap(([field, value]) => {
    if (family.equal.includes(field)) return [];
    if (!isMap(value) || !family.alike.includes(field)) return [[field, value]];
    const { description: _text, ...plain } = value;
    return [[field, plain]];
  });
  const needed: readonly unknown[] = neededBy(family);
  const further = listOf(required).filter((field) => !needed.includes(field));
  return {
    allOf: [baseOf(family.name), ...listOf(allOf)],
    ...Object.fromEntries(others),
    properties: Object.fromEntries(own),
    ...(further.length > 0 && { required: further }),
    ...(isClosed && { unevaluatedProperties: false }),
  };
}

/**
 * The schemas with the fields that several of a family have alike in a schema of their own, which these extend.
 * A field that all describe alike and each restricts in its own way is described there.
 */
export function withFamilies(schemas: Json): Json {
  const family = bestFamily(Object.entries(schemas).flatMap(memberOf), schemas);
  if (family === null) return schemas;
  const own = family.members.map((member) => [member.name, ownSchema(member, family)] as const);
  return withFamilies({
    ...schemas,
    ...Object.fromEntries(own),
    [family.name]: commonSchema(family),
  });
}
