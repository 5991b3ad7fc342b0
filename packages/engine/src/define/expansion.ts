import { z } from 'zod';
import type { AskingContext } from './asking-context.ts';
import { filterValuesMaximum } from './listing.ts';
import type { ColumnTypes, Projection } from './projection.ts';

/** Finds records by their ids, all that a page needs at once. */
type Find<Related> = (
  context: AskingContext,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, Related>>;

/** A record of another kind that a resource shows in one of its members. */
interface Relation<Shown, Member extends keyof Shown> {
  readonly as: Member;
  /** The id of the related record; without one the member is left out. */
  readonly id: (shown: Shown) => string | null | undefined;
  readonly find: Find<NonNullable<Shown[Member]>>;
  /** True where it is shown without being asked for. */
  readonly always?: boolean;
}

/** The relations of a resource, by the names that `expand` calls them by. */
type Relations<Shown> = Readonly<
  Record<string, { [Member in keyof Shown]-?: Relation<Shown, Member> }[keyof Shown]>
>;

/** The related records that a resource can show, and the `expand` that asks for them. */
export interface Expansion<Shown> {
  /** `expand` in a query string or a body. It refuses other names. */
  readonly parameter: ReturnType<typeof expandParameter>;
  /** Resources with the related records that are asked for or always shown: one look-up for each name. */
  readonly show: (
    context: AskingContext,
    resources: readonly Shown[],
    names?: readonly string[],
  ) => Promise<Shown[]>;
}

const nothing = 'must be empty: there is nothing to expand here';

/** The parts of names with dots, commas or both, such as `prices.meters,plan`. An empty text has none. */
const partsOf = (given: string | readonly string[]): string[] =>
  given === '' ? [] : [given].flat().flatMap((text) => text.split(/[.,]/));

/**
 * The names that `expand` takes (specification §10.1), and those of them that are shown without being
 * asked for. A name with dots counts as its parts.
 */
export function expandParameter(names: readonly string[], always: readonly string[] = []) {
  const parts = z.union([z.string(), z.array(z.string())]).transform(partsOf);
  const known =
    names.length === 0
      ? z.array(z.string()).max(0, nothing)
      : z.array(z.enum(names)).max(filterValuesMaximum);
  const isAll = names.every((name) => always.includes(name));
  const shown = isAll ? 'Always shown' : `Always shown: ${always.join(', ')}`;
  const description = always.length > 0 ? shown : undefined;
  return parts.pipe(known).optional().meta({ description });
}

/** Finds the resources of a table. */
export const inTable =
  <Row, Resource, Columns extends ColumnTypes>(
    table: Projection<string, Row, Resource, Columns>,
  ): Find<Resource> =>
  (context, ids) =>
    context.read.findMany(table, ids);

/** Declares what a resource can show of others. `inside` are further names for what stands inside of these. */
export function expansion<Shown>(
  relations: Relations<Shown>,
  inside: readonly string[] = [],
): Expansion<Shown> {
  const named = Object.entries(relations);
  const always = named.flatMap(([name, relation]) => (relation.always ? [name] : []));
  return {
    parameter: expandParameter([...named.map(([name]) => name), ...inside], [...always, ...inside]),
    async show(context, resources, names = []) {
      const shown = named.filter(([name, relation]) => relation.always || names.includes(name));
      const members = await Promise.all(
        shown.map(([, relation]) => memberOf(context, resources, relation)),
      );
      return resources.map((resource) =>
        Object.assign({}, resource, ...members.map((member) => member(resource))),
      );
    },
  };
}

/** Looks up the records of one relation, and returns the member that each resource gets of them. */
async function memberOf<Shown>(
  context: AskingContext,
  resources: readonly Shown[],
  { as, id, find }: Relations<Shown>[string],
): Promise<(resource: Shown) => Partial<Shown>> {
  const ids = new Set(resources.map(id).filter((each) => each !== null && each !== undefined));
  const found = ids.size > 0 ? await find(context, [...ids]) : null;
  return (resource) => {
    const related = found?.get(id(resource) ?? '');
    return related === undefined ? {} : ({ [as]: related } as Partial<Shown>);
  };
}
