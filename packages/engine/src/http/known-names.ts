import { z } from 'zod';
import { unused } from '../define/unused.ts';
import { isMap } from './fields.ts';
import { maximumFieldProblems } from './issues.ts';
import { maximumOf } from './long-lists.ts';

/** A member that is to be left out of its object before the object is parsed. */
export interface Superfluous {
  readonly holder: Record<string, unknown>;
  readonly name: string;
  /** Keys from the outside in, the name of the member included. */
  readonly path: readonly PropertyKey[];
  readonly why: 'unknown' | 'unused' | 'absent';
}

/** The findings in a value. */
export interface Found {
  /** All that must be left out, and the first of those that no schema knows. */
  readonly superfluous: Superfluous[];
  unknown: number;
  /** The first list that is longer than its schema allows; nothing is looked for from there on. */
  tooLong: { readonly path: readonly PropertyKey[]; readonly maximum: number } | null;
}

/** Adds to what has been found what a value of one schema has, and changes nothing else. */
type Search = (value: unknown, path: readonly PropertyKey[], found: Found) => void;

/** Null for a schema in whose values there is nothing to be found. */
type MaybeSearch = Search | null;

/**
 * Makes a finder of the members that the schema does not know, that have no effect, and that are null where
 * null only means absent (D6), and of lists that are too long: a parser would look at all their items first.
 * What is of another form than the schema is left to the parser. Null where there is nothing to be found.
 */
export function finderOf(
  schema: z.ZodType,
): ((value: unknown, path?: readonly PropertyKey[]) => Found) | null {
  const search = searchFor(schema as z.core.$ZodType);
  return (
    search &&
    ((value, path = []) => {
      const found: Found = { superfluous: [], unknown: 0, tooLong: null };
      search(value, path, found);
      return found;
    })
  );
}

function searchFor(schema: z.core.$ZodType): MaybeSearch {
  if (schema instanceof z.ZodObject) return inObject(schema);
  if (schema instanceof z.ZodArray) return inItems(schema.def.element, maximumOf(schema));
  if (schema instanceof z.ZodRecord) return inValues(schema.def.valueType);
  if (schema instanceof z.ZodUnion) return inOneOf(schema.def.options);
  if (schema instanceof z.ZodPipe) {
    return searchFor(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in);
  }
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  ) {
    return searchFor(schema.def.innerType);
  }
  return null;
}

interface Member {
  readonly isUnused: boolean;
  readonly nullMeansAbsent: boolean;
  readonly within: MaybeSearch;
}

/** Tells whether null in the place of a value says nothing else than that there is none. */
export const nullMeansAbsent = (schema: z.core.$ZodType): boolean =>
  z.safeParse(schema, undefined).success && !z.safeParse(schema, null).success;

function inObject({ shape, def }: z.ZodObject): Search {
  const members = new Map<string, Member>(
    Object.entries(shape).map(([name, schema]) => [
      name,
      {
        isUnused: schema === unused,
        nullMeansAbsent: nullMeansAbsent(schema),
        within: searchFor(schema),
      },
    ]),
  );
  const whyNot = (member: Member | undefined, value: unknown): Superfluous['why'] | null => {
    // A schema with words of its own for other members has them checked by the parser.
    if (!member) return def.catchall ? null : 'unknown';
    if (member.isUnused) return 'unused';
    return value === null && member.nullMeansAbsent ? 'absent' : null;
  };
  return (value, path, found) => {
    if (!isMap(value)) return;
    for (const name of Object.keys(value)) {
      const member = members.get(name);
      const why = whyNot(member, value[name]);
      if (why === null) member?.within?.(value[name], [...path, name], found);
      else note(found, { holder: value, name, path, why });
      if (found.tooLong) return;
    }
  };
}

/** `path` is that of the holder. */
function note(found: Found, { path, ...superfluous }: Superfluous): void {
  if (superfluous.why === 'unknown') {
    found.unknown += 1;
    // Parsers drop what they do not know, so the rest of it needs no finding.
    if (found.unknown > maximumFieldProblems) return;
  }
  found.superfluous.push({ ...superfluous, path: [...path, superfluous.name] });
}

function inItems(element: z.core.$ZodType, maximum: number): MaybeSearch {
  const within = searchFor(element);
  if (within === null && maximum === Number.POSITIVE_INFINITY) return null;
  return (value, path, found) => {
    if (!Array.isArray(value)) return;
    if (value.length > maximum) found.tooLong = { path, maximum };
    else if (within) inEach(within, value.entries(), path, found);
  };
}

function inValues(valueType: z.core.$ZodType): MaybeSearch {
  const within = searchFor(valueType);
  return (
    within &&
    ((value, path, found) => {
      if (isMap(value)) inEach(within, Object.entries(value), path, found);
    })
  );
}

function inEach(
  within: Search,
  entries: Iterable<readonly [PropertyKey, unknown]>,
  path: readonly PropertyKey[],
  found: Found,
): void {
  for (const [key, value] of entries) {
    within(value, [...path, key], found);
    if (found.tooLong) return;
  }
}

/** Tells whether the literals of a form, such as the name of its kind, are those of a value. */
const isOfForm = (form: z.core.$ZodType, value: unknown): boolean =>
  !(form instanceof z.ZodObject && isMap(value)) ||
  Object.entries(form.shape).every(
    ([name, member]) =>
      !(member instanceof z.ZodLiteral) || z.safeParse(member, value[name]).success,
  );

/** A value of several forms is held against the first that its literals name. A list may be of any of them. */
function inOneOf(forms: readonly z.core.$ZodType[]): MaybeSearch {
  const searches = forms.flatMap((form) => {
    const within =
      form instanceof z.ZodArray
        ? inItems(form.def.element, Number.POSITIVE_INFINITY)
        : searchFor(form);
    return within ? { form, within } : [];
  });
  if (searches.length === 0) return null;
  return (value, path, found) =>
    searches.find(({ form }) => isOfForm(form, value))?.within(value, path, found);
}
