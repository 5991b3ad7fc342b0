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
  /** Those of its fields that another schema can have for it. */
  readonly shareable: readonly (readonly [field: string, text: string])[];
  /** The descriptions of its fields, by name. */
  readonly descriptions: ReadonlyMap<string, unknown>;
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

/** The members of schemas that were looked at: most stay as they are while others are composed. */
const known = new WeakMap<object, { readonly name: string; readonly members: Member[] }>();

function memberOf([name, schema]: [string, unknown]): Member[] {
  if (!isMap(schema)) return [];
  const found = known.get(schema);
  if (found?.name === name) return found.members;
  const members = newMemberOf(name, schema);
  known.set(schema, { name, members });
  return members;
}

function newMemberOf(name: string, schema: Json): Member[] {
  if (!isMap(schema.properties) || name.endsWith(familyName([]))) return [];
  const { properties } = schema;
  const entries = Object.entries(properties);
  const texts = entries.map(([field, value]) => [field, JSON.stringify(value)] as const);
  return [
    {
      name,
      schema: { ...schema, properties },
      words: (name.match(/[A-Z][a-z]*/g) ?? []).filter((word) => !actions.has(word)),
      isClosed: closing.some((keyword) => keyword in schema),
      fields: new Map(texts),
      shareable: texts.filter(([, text]) => !holdsObjects.test(text)),
      descriptions: new Map(
        entries.map(([field, value]) => [field, isMap(value) ? value.description : undefined]),
      ),
    },
  ];
}

/** Two schemas that may be of one family: the words and the fields that they have in common. */
interface Kinship {
  readonly first: Member;
  readonly common: readonly string[];
  readonly shared: readonly (readonly [field: string, text: string])[];
}

function kinshipOf(first: Member, second: Member): Kinship | null {
  if (first.isClosed !== second.isClosed) return null;
  const common = first.words.filter((word) => second.words.includes(word));
  if (common.length === 0) return null;
  const shared = first.shareable.filter(([field, text]) => second.fields.get(field) === text);
  return { first, common, shared };
}

/** The schemas by each word of their names, in their order. Only schemas that share a word can be of one family. */
function byWord(all: readonly Member[]): ReadonlyMap<string, readonly Member[]> {
  const found = new Map<string, Member[]>();
  for (const member of all) {
    for (const word of new Set(member.words)) {
      const holders = found.get(word);
      if (holders) holders.push(member);
      else found.set(word, [member]);
    }
  }
  return found;
}

/** Returns the family of all that have in common what two of them have, under the words that these share. */
function familyOf({ first, common, shared }: Kinship, sharingWord: readonly Member[]): Family {
  const others = sharingWord.filter(
    (member) =>
      member !== first &&
      member.isClosed === first.isClosed &&
      common.every((word) => member.words.includes(word)) &&
      shared.every(([field, text]) => member.fields.get(field) === text),
  );
  const equal = shared.map(([field]) => field);
  const alike = [...first.fields.keys()].filter((field) => {
    const text = first.descriptions.get(field);
    const isSame = (member: Member): boolean => member.descriptions.get(field) === text;
    return text !== undefined && !equal.includes(field) && others.every(isSame);
  });
  const name = familyName(common);
  const once = shared.reduce((sum, [field, text]) => sum + `"${field}":${text},`.length, 0);
  const texts = alike.reduce((sum, field) => {
    return sum + `"description":"${first.descriptions.get(field)}",`.length;
  }, 0);
  const extending = JSON.stringify({ allOf: [baseOf(name)] }).length;
  const own = `"${name}":{"type":"object","properties":{},"required":[]},`.length;
  const saving = others.length * (once + texts) - (others.length + 1) * extending - own;
  return { name, members: [first, ...others], equal, alike, saving };
}

/** Returns the family that saves most, if any is worth it. */
function bestFamily(all: readonly Member[], taken: Json): Family | null {
  let best: Family | null = null;
  const places = new Map(all.map((member, place) => [member, place]));
  const placeOf = (member: Member): number => places.get(member) ?? 0;
  const sharing = byWord(all);
  // Any two of a family lead to it: it is looked at once.
  const seen = new Set<string>();
  for (const [place, first] of all.entries()) {
    const relatives = new Set(first.words.flatMap((word) => sharing.get(word) ?? []));
    const later = [...relatives].filter((member) => placeOf(member) > place);
    for (const second of later.sort((left, right) => placeOf(left) - placeOf(right))) {
      const kinship = kinshipOf(first, second);
      if (kinship === null || familyName(kinship.common) in taken) continue;
      const key = keyOf(kinship);
      if (seen.has(key)) continue;
      seen.add(key);
      const family = familyOf(kinship, sharing.get(kinship.common[0] ?? '') ?? []);
      if (family.saving > (best?.saving ?? worthwhile)) best = family;
    }
  }
  return best;
}

/** The same for any two schemas of a family, whichever comes first. */
const keyOf = ({ first, common, shared }: Kinship): string =>
  JSON.stringify([first.isClosed, common, shared.toSorted(byField)]);

const byField = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  left < right ? -1 : 1;

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
      ...alike.map((field) => [field, { description: first.descriptions.get(field) }]),
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
