import { type Placed, shapeOf } from './declarations.ts';
import type { Members, Shape } from './shapes.ts';

/** The ways in which values are written: as JSON, or as a form, whose values are all texts. */
type Writing = 'json' | 'form';

/**
 * The faults of a value against a published declaration, each with its place; none where it fits. Members that are not declared, and
 * words that are not among those of an enumeration, are faults, although a declaration leaves room for new ones.
 */
export function faultsOf(value: unknown, placed: Placed, writing: Writing): readonly string[] {
  return faultsAt(value, placed, writing, '');
}

function faultsAt(value: unknown, placed: Placed, writing: Writing, at: string): readonly string[] {
  const { shape } = placed;
  switch (shape.kind) {
    case 'anything':
      return [];
    case 'never':
      return [`${at}: must not be there`];
    case 'text':
      return typeof value === 'string' ? [] : [`${at}: must be a text`];
    case 'number':
      return isNumber(value, writing) ? [] : [`${at}: must be a number`];
    case 'boolean':
      return isBoolean(value, writing) ? [] : [`${at}: must be true or false`];
    case 'null':
      return value === null || (writing === 'form' && value === '') ? [] : [`${at}: must be null`];
    case 'literal':
      return String(value) === String(shape.value) ? [] : [`${at}: must be ${shape.value}`];
    case 'list':
      if (!Array.isArray(value)) return [`${at}: must be a list`];
      return value.flatMap((item, index) =>
        faultsAt(item, { ...placed, shape: shape.of }, writing, `${at}[${index}]`),
      );
    case 'union':
      return faultsOfUnion(value, placed, shape.of, writing, at);
    case 'members':
      return faultsOfMembers(value, placed, shape.members, writing, at);
    case 'named':
      return faultsOfNamed(value, placed, shape, writing, at);
    default:
      return shape satisfies never;
  }
}

const isNumber = (value: unknown, writing: Writing): boolean =>
  writing === 'json' ? typeof value === 'number' : /^-?\d+(\.\d+)?$/.test(String(value));

const isBoolean = (value: unknown, writing: Writing): boolean =>
  writing === 'json' ? typeof value === 'boolean' : value === 'true' || value === 'false';

/** The faults of the alternative that fits best. */
function faultsOfUnion(
  value: unknown,
  placed: Placed,
  of: readonly Shape[],
  writing: Writing,
  at: string,
): readonly string[] {
  let best: readonly string[] | null = null;
  for (const shape of of) {
    const faults = faultsAt(value, { ...placed, shape }, writing, at);
    if (faults.length === 0) return [];
    if (
      best === null ||
      (isObject(value) && shape.kind === 'named' && faults.length < best.length)
    ) {
      best = faults;
    }
  }
  return best ?? [`${at}: nothing fits`];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member with the place in which its shape is meant. */
type PlacedMember = Placed & { readonly isOptional: boolean };

/** The members of an object with those of the declarations that it extends. */
function membersOf(placed: Placed, members: Members): ReadonlyMap<string, PlacedMember> {
  const inherited = members.extends.flatMap((name) => {
    const parent = shapeOf(name, placed);
    return parent.shape.kind === 'members' ? [...membersOf(parent, parent.shape.members)] : [];
  });
  const own = [...members.named].map(([name, { shape, isOptional }]): [string, PlacedMember] => [
    name,
    { ...placed, shape, isOptional },
  ]);
  return new Map([...inherited, ...own]);
}

function faultsOfMembers(
  value: unknown,
  placed: Placed,
  members: Members,
  writing: Writing,
  at: string,
): readonly string[] {
  if (!isObject(value)) return [`${at}: must be an object`];
  const known = membersOf(placed, members);
  const missing = [...known]
    .filter(([name, { isOptional }]) => !isOptional && value[name] === undefined)
    .map(([name]) => `${at}.${name}: is missing`);
  const wrong = Object.entries(value).flatMap(([name, inner]) => {
    const member = known.get(name);
    if (member) return inner === undefined ? [] : faultsAt(inner, member, writing, `${at}.${name}`);
    if (!members.others) return [`${at}.${name}: nobody knows this member`];
    return faultsAt(inner, { ...placed, shape: members.others }, writing, `${at}.${name}`);
  });
  return [...missing, ...wrong];
}

function faultsOfNamed(
  value: unknown,
  placed: Placed,
  { name, of }: Extract<Shape, { readonly kind: 'named' }>,
  writing: Writing,
  at: string,
): readonly string[] {
  const [inner = { kind: 'anything' } as const] = of;
  switch (name) {
    case 'OtherString':
      return [`${at}: must be one of the words that are declared, and is ${String(value)}`];
    case 'Emptyable':
      if (value === null || value === '') return [];
      return faultsAt(value, { ...placed, shape: inner }, writing, at);
    case 'ApiList':
      return faultsOfList(value, { ...placed, shape: inner }, writing, at);
    case 'Decimal':
      return typeof value === 'string' ? [] : [`${at}: must be a decimal`];
    default:
      return faultsAt(value, shapeOf(name, placed), writing, at);
  }
}

function faultsOfList(value: unknown, of: Placed, writing: Writing, at: string): readonly string[] {
  if (!isObject(value) || value.object !== 'list') return [`${at}: must be a list of Stripe`];
  if (typeof value.has_more !== 'boolean' || typeof value.url !== 'string') {
    return [`${at}: has_more and url are missing`];
  }
  if (!Array.isArray(value.data)) return [`${at}.data: must be a list`];
  return value.data.flatMap((item, index) => faultsAt(item, of, writing, `${at}.data[${index}]`));
}
