import { z } from 'zod';

/** Values of members by name: those of which each member has one. */
type Values<Member extends string> = Readonly<Partial<Record<Member, string | readonly string[]>>>;

type Several<Member extends string> = readonly [Member, Member, ...Member[]];

/** A demand on the members of an object. A member is given when it is not empty. */
type Demand<Member extends string> =
  | { readonly needs: Member }
  | { readonly lacks: Member }
  /** The member, which has no default, has one of these values or is not given. */
  | { readonly limits: Member; readonly to: readonly (string | number)[] }
  | { readonly oneOf: Several<Member> }
  | { readonly someOf: Several<Member> }
  | { readonly atMostOneOf: Several<Member> };

/** The values for which a condition applies; all when it names none. An absent member has its default. */
type Circumstance<Member extends string> =
  | { readonly when?: Values<Member>; readonly unless?: never; readonly beside?: never }
  | { readonly unless: Values<Member>; readonly when?: never; readonly beside?: never }
  /** It applies when this member is given. */
  | { readonly beside: Member; readonly when?: never; readonly unless?: never };

/** A rule between the members of an object; `says` is told to whoever breaks it. */
export type Condition<Member extends string> = Demand<Member> &
  Circumstance<Member> & { readonly says: string };

type Members = Readonly<Record<string, unknown>>;

/** The values that say as much as none: they clear a member, or hold nothing. */
const nothing = [null, '', [], {}] as const;

const isGiven = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  !(typeof value === 'object' && Object.keys(value).length === 0);

const entriesOf = (values: Values<string>) =>
  Object.entries(values).map(([name, value]) => [name, [value ?? []].flat()] as const);

const hold = (values: Values<string>, members: Members): boolean =>
  entriesOf(values).every(([name, some]) => some.some((value) => value === members[name]));

const applies = ({ when = {}, unless, beside }: Condition<string>, members: Members): boolean =>
  hold(when, members) &&
  !(unless && hold(unless, members)) &&
  (beside === undefined || isGiven(members[beside]));

/** The members that a demand is about. */
function demandedOf(demand: Demand<string>): readonly string[] {
  if ('needs' in demand) return [demand.needs];
  if ('lacks' in demand) return [demand.lacks];
  if ('limits' in demand) return [demand.limits];
  if ('oneOf' in demand) return demand.oneOf;
  return 'someOf' in demand ? demand.someOf : demand.atMostOneOf;
}

/** Returns the member that breaks a demand; null when none does. */
function breaks(demand: Demand<string>, members: Members): string | null {
  if ('needs' in demand) return isGiven(members[demand.needs]) ? null : demand.needs;
  if ('lacks' in demand) return isGiven(members[demand.lacks]) ? demand.lacks : null;
  if ('limits' in demand) {
    const value = members[demand.limits];
    return !isGiven(value) || demand.to.some((each) => each === value) ? null : demand.limits;
  }
  const givenOf = (names: readonly string[]) => names.filter((name) => isGiven(members[name]));
  if ('someOf' in demand) return givenOf(demand.someOf).length > 0 ? null : demand.someOf[0];
  if ('atMostOneOf' in demand) return givenOf(demand.atMostOneOf)[1] ?? null;
  const [one, more = null] = givenOf(demand.oneOf);
  return one === undefined ? demand.oneOf[0] : more;
}

const given = (name: string) => ({
  required: [name],
  properties: { [name]: { not: { enum: nothing } } },
});

const notGiven = (names: readonly string[]) => ({
  properties: Object.fromEntries(names.map((name) => [name, { enum: nothing }])),
});

/** A demand as JSON Schema. */
function demanded(demand: Demand<string>): object {
  if ('needs' in demand) return given(demand.needs);
  if ('lacks' in demand) return notGiven([demand.lacks]);
  if ('limits' in demand) {
    return { properties: { [demand.limits]: { enum: [...demand.to, ...nothing] } } };
  }
  if ('oneOf' in demand) return { oneOf: demand.oneOf.map(given) };
  if ('someOf' in demand) return { anyOf: demand.someOf.map(given) };
  return { oneOf: [...demand.atMostOneOf.map(given), notGiven(demand.atMostOneOf)] };
}

/** That members have some of the values, as JSON Schema. */
function having(values: Values<string>, shape: z.ZodRawShape): object {
  const members = entriesOf(values).map(([name, some]) => {
    const member = shape[name];
    const byDefault = member ? z.safeParse(member, undefined) : null;
    const isDefault = byDefault?.success === true && some.some((value) => value === byDefault.data);
    return { name, isDefault, schema: { enum: isDefault ? [...some, null] : some } };
  });
  const required = members.filter(({ isDefault }) => !isDefault).map(({ name }) => name);
  return {
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}

function described(condition: Condition<string>, shape: z.ZodRawShape): object {
  const demand = demanded(condition);
  const { when, unless, beside } = condition;
  if (unless) return { if: having(unless, shape), else: demand };
  if (!when && beside === undefined) return demand;
  const circumstance = beside === undefined ? having(when ?? {}, shape) : given(beside);
  // biome-ignore lint/suspicious/noThenProperty: it is the word of JSON Schema.
  return { if: circumstance, then: demand };
}

/**
 * The schema of an object whose members also have to fulfil conditions between them. What it checks is
 * what its JSON Schema says.
 */
export function withConditions<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  conditions: readonly Condition<keyof Shape & string>[],
): z.ZodObject<Shape> {
  const all: readonly Condition<string>[] = conditions;
  return schema
    .superRefine((members: Members, context) => {
      // What is said about a member that is wrong by itself would only confuse.
      const wrong = new Set(context.issues.map(({ path }) => path?.[0]));
      for (const condition of all) {
        if (demandedOf(condition).some((name) => wrong.has(name))) continue;
        const member = applies(condition, members) ? breaks(condition, members) : null;
        if (member === null) continue;
        context.addIssue({ code: 'custom', path: [member], message: condition.says });
      }
    })
    .meta({ allOf: all.map((condition) => described(condition, schema.shape)) });
}
