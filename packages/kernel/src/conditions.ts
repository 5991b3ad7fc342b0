import { z } from 'zod';

/** Values of members by name: those of which each member has one. */
type Values<Member extends string> = Readonly<
  Partial<Record<Member, string | boolean | readonly string[]>>
>;

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

/** A JSON Schema of members: which have to be there, and what holds for each. */
interface MemberSchema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

/** The values that say as much as none of which a member takes any. Null always counts as absent (D6). */
const nothingOf = (name: string, shape: z.ZodRawShape): readonly unknown[] =>
  nothing.filter((value) => {
    const member = shape[name];
    return value === null || !member || z.safeParse(member, value).success;
  });

const given = (name: string, shape: z.ZodRawShape): MemberSchema => ({
  required: [name],
  properties: { [name]: { not: { enum: nothingOf(name, shape) } } },
});

const notGiven = (names: readonly string[], shape: z.ZodRawShape): MemberSchema => ({
  properties: Object.fromEntries(names.map((name) => [name, { enum: nothingOf(name, shape) }])),
});

/** A demand as JSON Schema. */
function demanded(demand: Demand<string>, shape: z.ZodRawShape): object {
  const eachGiven = (names: readonly string[]) => names.map((name) => given(name, shape));
  if ('needs' in demand) return given(demand.needs, shape);
  if ('lacks' in demand) return notGiven([demand.lacks], shape);
  if ('limits' in demand) {
    const { limits, to } = demand;
    return { properties: { [limits]: { enum: [...to, ...nothingOf(limits, shape)] } } };
  }
  if ('oneOf' in demand) return { oneOf: eachGiven(demand.oneOf) };
  if ('someOf' in demand) return { anyOf: eachGiven(demand.someOf) };
  return { oneOf: [...eachGiven(demand.atMostOneOf), notGiven(demand.atMostOneOf, shape)] };
}

/** That members have some of the values, as JSON Schema. */
function having(values: Values<string>, shape: z.ZodRawShape): object {
  const members = entriesOf(values).map(([name, some]) => {
    const member = shape[name];
    const byDefault = member ? z.safeParse(member, undefined) : null;
    const isDefault = byDefault?.success === true && some.some((value) => value === byDefault.data);
    const mayLack = byDefault?.success === true && !isDefault;
    return { name, mayLack, schema: { enum: isDefault ? [...some, null] : some } };
  });
  const required = members.filter(({ mayLack }) => mayLack).map(({ name }) => name);
  return {
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}

/** The text by which two demands or circumstances are the same. */
const textOf = (...parts: readonly unknown[]): string => JSON.stringify(parts);

const demandText = (demand: Demand<string>): string =>
  textOf(Object.entries(demand).filter(([name]) => !/^(when|unless|beside|says)$/.test(name)));

/** Conditions that ask the same for different values of one member as one for all of these. */
function united(conditions: readonly Condition<string>[]): readonly Condition<string>[] {
  const groups = Map.groupBy(conditions, (condition) => {
    const names = Object.keys(condition.when ?? {});
    return names.length === 1 ? textOf(names, demandText(condition)) : textOf(condition);
  });
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const [name] = Object.keys(first?.when ?? {});
    if (first === undefined || name === undefined || group.length === 1) return group;
    const values = group.flatMap(({ when = {} }) => when[name] ?? []);
    return [{ ...first, when: { [name]: values } } as Condition<string>];
  });
}

/** Demands that hold together as one schema. */
function joined(demands: readonly object[]): object {
  const members = demands.filter((demand): demand is MemberSchema => 'properties' in demand);
  const names = members.flatMap(({ properties }) => Object.keys(properties));
  const [only, ...others] = demands;
  if (only && others.length === 0) return only;
  if (members.length < demands.length || new Set(names).size < names.length) {
    return { allOf: demands };
  }
  const required = members.flatMap(({ required: needed = [] }) => needed);
  return {
    ...(required.length > 0 && { required }),
    properties: Object.assign({}, ...members.map(({ properties }) => properties)),
  };
}

/** The conditions as JSON Schemas, one for each circumstance. */
function described(conditions: readonly Condition<string>[], shape: z.ZodRawShape): object[] {
  const groups = Map.groupBy(united(conditions), ({ when = {}, unless, beside }) =>
    textOf(beside ?? null, unless ?? when),
  );
  return [...groups.values()].flatMap((group) => {
    const [{ when = {}, unless, beside } = {}] = group;
    const isAlways = !unless && beside === undefined && Object.keys(when).length === 0;
    if (isAlways) return group.map((condition) => demanded(condition, shape));
    const branch = (isElse: boolean) => {
      const demands = group.filter((condition) => (condition.unless !== undefined) === isElse);
      return demands.length > 0 && joined(demands.map((demand) => demanded(demand, shape)));
    };
    const [then, otherwise] = [branch(false), branch(true)];
    return [
      {
        if: beside === undefined ? having(unless ?? when, shape) : given(beside, shape),
        ...(then && { then }),
        ...(otherwise && { else: otherwise }),
      },
    ];
  });
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
    .meta({ allOf: described(all, schema.shape) });
}
