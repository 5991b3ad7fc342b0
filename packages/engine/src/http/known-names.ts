import { z } from 'zod';
import { unused } from '../define/unused.ts';
import { isMap } from './fields.ts';

/** A member that is to be left out of its object before the object is parsed. */
export interface Superfluous {
  readonly holder: Record<string, unknown>;
  readonly name: string;
  /** Keys from the outside in, the name of the member included. */
  readonly path: readonly PropertyKey[];
  readonly why: 'unknown' | 'unused' | 'absent';
}

/** Finds the superfluous members in a value of one schema, and changes nothing. */
export type Finder = (value: unknown, path: readonly PropertyKey[]) => Superfluous[];

/** Null for a schema whose values have no members that could be superfluous. */
type MaybeFinder = Finder | null;

/**
 * Makes a finder of the members that the schema does not know, that have no effect, and that are null where
 * null only means absent (D6). What is of another form than the schema is left to the parser.
 */
export const finderOf = (schema: z.ZodType): MaybeFinder => finderFor(schema as z.core.$ZodType);

function finderFor(schema: z.core.$ZodType): MaybeFinder {
  if (schema instanceof z.ZodObject) return inObject(schema);
  if (schema instanceof z.ZodArray) return inItems(schema.def.element);
  if (schema instanceof z.ZodRecord) return inValues(schema.def.valueType);
  if (schema instanceof z.ZodUnion) return inOneOf(schema.def.options);
  if (schema instanceof z.ZodPipe) {
    return finderFor(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in);
  }
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  ) {
    return finderFor(schema.def.innerType);
  }
  return null;
}

interface Member {
  readonly isUnused: boolean;
  readonly nullMeansAbsent: boolean;
  readonly within: MaybeFinder;
}

/** Tells whether null in the place of a value says nothing else than that there is none. */
export const nullMeansAbsent = (schema: z.core.$ZodType): boolean =>
  z.safeParse(schema, undefined).success && !z.safeParse(schema, null).success;

function inObject({ shape, def }: z.ZodObject): Finder {
  const members = new Map<string, Member>(
    Object.entries(shape).map(([name, schema]) => [
      name,
      {
        isUnused: schema === unused,
        nullMeansAbsent: nullMeansAbsent(schema),
        within: finderFor(schema),
      },
    ]),
  );
  return (value, path) => {
    if (!isMap(value)) return [];
    return Object.keys(value).flatMap((name): Superfluous[] => {
      const found = (why: Superfluous['why']) => [
        { holder: value, name, path: [...path, name], why },
      ];
      const member = members.get(name);
      // A schema with words of its own for other members has them checked by the parser.
      if (!member) return def.catchall ? [] : found('unknown');
      if (member.isUnused) return found('unused');
      if (value[name] === null) return member.nullMeansAbsent ? found('absent') : [];
      return member.within?.(value[name], [...path, name]) ?? [];
    });
  };
}

function inItems(element: z.core.$ZodType): MaybeFinder {
  const within = finderFor(element);
  return (
    within &&
    ((value, path) =>
      Array.isArray(value)
        ? value.flatMap((item: unknown, index) => within(item, [...path, index]))
        : [])
  );
}

function inValues(valueType: z.core.$ZodType): MaybeFinder {
  const within = finderFor(valueType);
  return (
    within &&
    ((value, path) =>
      isMap(value)
        ? Object.entries(value).flatMap(([name, item]) => within(item, [...path, name]))
        : [])
  );
}

/** Tells whether the literals of a form, such as the name of its kind, are those of a value. */
const isOfForm = (form: z.core.$ZodType, value: unknown): boolean =>
  !(form instanceof z.ZodObject && isMap(value)) ||
  Object.entries(form.shape).every(
    ([name, member]) =>
      !(member instanceof z.ZodLiteral) || z.safeParse(member, value[name]).success,
  );

/** A value of several forms is held against the first that its literals name. */
function inOneOf(forms: readonly z.core.$ZodType[]): MaybeFinder {
  const finders = forms.flatMap((form) => {
    const within = finderFor(form);
    return within ? { form, within } : [];
  });
  if (finders.length === 0) return null;
  return (value, path) =>
    finders.find(({ form }) => isOfForm(form, value))?.within(value, path) ?? [];
}
