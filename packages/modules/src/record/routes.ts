import {
  type AnyProjection,
  type ColumnTypes,
  type Expansion,
  expandParameter,
  type Found,
  listShape,
  newRecord,
  ofTable,
  type Page,
  type Prepared,
  type Projection,
  pageRequest,
  pageSchema,
  type Reaction,
  type RequestContext,
  type Route,
  type RouteExample,
  route,
  type Search,
  searchExample,
  searchFilters,
  searchShape,
  type WithETag,
  withETag,
} from '@counterfoil/engine/define';
import {
  type Aggregate,
  type Decision,
  type EventCatalogue,
  type EventOf,
  type Id,
  type IdPrefix,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../message.ts';
import type { Unique } from './definition.ts';
import { conditionsOf, type Filters, membersOf, parametersOf } from './filters.ts';
import { foundById, foundByUnique } from './look-ups.ts';

/** A kind of record as all of its routes need it, whether `record` has declared it or not. */
interface Kind<Prefix extends IdPrefix, Schema extends z.ZodType> {
  readonly called: string;
  readonly prefix: Prefix;
  readonly schema: Schema;
}

/** A kind of record as the routes that change it need it. */
interface Written<Schema extends z.ZodType, Catalogue extends EventCatalogue, State> {
  readonly aggregate: Aggregate<string, Catalogue, State>;
  readonly view: (state: State) => z.output<Schema>;
}

/** A kind of record as the routes that read it need it. */
interface Read<Schema extends z.ZodType, Columns extends ColumnTypes> {
  readonly unique?: Unique | null;
  // biome-ignore lint/suspicious/noExplicitAny: what a row holds is no business of its routes.
  readonly table: Projection<string, any, z.output<Schema>, Columns>;
}

/** The parts of an answer that are no fields of the record itself, such as the meter of a feature. */
interface Embedding<Shown> {
  /** Records of other kinds that it shows, always or when `expand` names them. */
  readonly expansion?: Expansion<Shown>;
  /** Adds the rest to records that are read: to a page that `search` asked for, or to the one with an id. */
  readonly read?: (
    context: RequestContext,
    records: readonly Shown[],
    search: object | null,
  ) => Promise<Shown[]>;
  /** Adds it to the record that a write answers, from the log and so never behind. */
  readonly written?: (context: RequestContext, record: Shown) => Promise<Shown>;
}

/** A request that may ask for related records. */
interface Expanding {
  readonly expand: readonly string[];
}

/** The part that all routes of a kind share. */
interface Common<Shown> {
  readonly tag: string;
  /** The resource that the rights are named after: `coupon` in `coupon:read` and `coupon:write`. */
  readonly right: string;
  readonly embedding?: Embedding<Shown>;
}

/** The sentences of a route in the documentation, where the usual ones do not fit. */
type Texts = Partial<Pick<Route, 'summary' | 'description'>>;

/** A request with a body that succeeds, as `Route` explains it. */
interface Exemplary<Body extends z.ZodType> {
  readonly example?: Omit<RouteExample<z.ZodType, z.ZodType, Body>, 'params' | 'query'>;
}

/** The decision of a command on one record, or what has to be looked up before it. */
type Decide<Prefix extends IdPrefix, Body, State, Event> = (
  id: Id<Prefix>,
  body: Body,
  context: RequestContext,
) => Prepared<Decision<State, Event>>;

const withArticle = (called: string): string => `${/^[aeiou]/.test(called) ? 'an' : 'a'} ${called}`;

/** The routes that change records of a kind. */
function writingRoutes<
  Prefix extends IdPrefix,
  Schema extends z.ZodType,
  Catalogue extends EventCatalogue,
  State,
>(
  kind: Kind<Prefix, Schema> & Written<Schema, Catalogue, State>,
  { tag, right, embedding }: Common<z.output<Schema>>,
) {
  const { called, prefix, aggregate, schema, view } = kind;
  const params = z.object({ id: referenceSchema(prefix) });
  const common = { tag, permission: `${right}:write` } as const;
  type Command<Body> = Decide<Prefix, Body, State, EventOf<Catalogue>>;
  const answered = async (
    context: RequestContext,
    id: Id<Prefix>,
    decision: Prepared<Decision<State, EventOf<Catalogue>>>,
    follows?: Reaction,
  ) => {
    const outcome = await context.execute(aggregate, id, decision);
    if (follows) await context.carryOut(follows, id, outcome);
    const { state, revision } = outcome;
    const shown = view(state);
    return withETag(embedding?.written ? await embedding.written(context, shown) : shown, revision);
  };
  return {
    /** Creates a record under a new id, carries out at once what `follows`, and answers it. */
    create: <Body extends z.ZodType>({
      decide,
      example,
      follows,
      ...rest
    }: Texts &
      Exemplary<Body> & {
        readonly status?: 200 | 201;
        readonly body: Body;
        readonly decide: Command<z.output<Body>>;
        readonly follows?: Reaction;
      }) =>
      route({
        summary: `Create ${withArticle(called)}`,
        ...{ status: 201, response: schema, ...common, ...rest },
        example: { makes: prefix, ...example },
        handle: (context, { body }) => {
          const id = context.newId(prefix);
          return answered(context, id, decide(id, body, context), follows);
        },
      }),

    /** Changes the record with an id, and answers it. */
    change: <Body extends z.ZodType>({
      decide,
      ...rest
    }: Texts &
      Exemplary<Body> & { readonly body?: Body; readonly decide: Command<z.output<Body>> }) =>
      route({
        summary: `Update ${withArticle(called)}`,
        ...{ status: 200, params, response: schema, ...common, ...rest },
        handle: (context, { params: { id }, body }) =>
          answered(context, id, decide(id, body, context)),
      }),

    /** Takes the record with an id out of use, and answers nothing. */
    end: ({ decide, ...rest }: Texts & { readonly decide: Command<undefined> }) =>
      route({
        summary: `Delete ${withArticle(called)}`,
        ...{ status: 204, params, ...common, ...rest },
        handle: async (context, { params: { id } }) => {
          await context.execute(aggregate, id, decide(id, undefined, context));
          return undefined;
        },
      }),

    /** Takes the record with an id out of use, and answers that it did. */
    endWithMessage: ({ decide, ...rest }: Texts & { readonly decide: Command<undefined> }) =>
      route({
        summary: `Delete ${withArticle(called)}`,
        ...{ status: 200, params, response: messageSchema, ...common, ...rest },
        handle: async (context, { params: { id } }) => {
          await context.execute(aggregate, id, decide(id, undefined, context));
          return deleted(called, id);
        },
      }),
  };
}

/** The routes that read records of a kind. */
function readingRoutes<
  Prefix extends IdPrefix,
  Schema extends z.ZodType,
  Columns extends ColumnTypes,
>(
  kind: Kind<Prefix, Schema> & Read<Schema, Columns>,
  { tag, right, embedding }: Common<z.output<Schema>>,
) {
  type Shown = z.output<Schema>;
  const { called, prefix, schema, unique } = kind;
  // Filters were held against its columns when they were declared.
  const table: AnyProjection = kind.table;
  const common = { tag, status: 200, permission: `${right}:read` } as const;
  const completed = async (
    context: RequestContext,
    records: readonly Shown[],
    search: Partial<Expanding> | null,
  ) => {
    const shown = embedding?.read ? await embedding.read(context, records, search) : [...records];
    return embedding?.expansion?.show(context, shown, search?.expand) ?? shown;
  };
  const expand = embedding?.expansion?.parameter;
  const answered = async (
    context: RequestContext,
    { resource, revision }: Found<Shown>,
  ): Promise<WithETag<Shown>> => {
    const [shown = resource] = await completed(context, [resource], null);
    return withETag(shown, revision);
  };
  const listed = async (
    context: RequestContext,
    filters: Filters<Columns>,
    search: Partial<Search & Expanding>,
  ): Promise<Page<Shown>> => {
    const page = await context.read.list(table, pageRequest(table, search), [
      ...searchFilters(table, search),
      ...conditionsOf(filters, search),
    ]);
    return { ...page, items: await completed(context, page.items, search) };
  };
  /** The filters whose values name records, as an example says it. */
  const named = (filters: Filters<Columns>) =>
    Object.fromEntries(
      Object.entries(filters).flatMap(([name, { column, names }]) => {
        if (column === 'id' || names) return [[name, names ?? prefix]];
        return column === unique?.field ? [[name, `${prefix}.${column}`]] : [];
      }),
    );
  return {
    /** Finds the record with an id, archived ones included. */
    get: <Query extends z.ZodType>(rest: Texts & { readonly query?: Query } = {}) =>
      route({
        ...{ summary: `Get ${withArticle(called)}`, ...common, ...rest },
        params: z.object({ id: referenceSchema(prefix) }),
        response: schema,
        handle: async (context, { params: { id } }) =>
          answered(context, await foundById(context, table, called, id)),
      }),

    /** Finds the published record with a unique value, which the path calls `parameter`. */
    getBy: <const Parameter extends string, Query extends z.ZodType>(
      parameter: Parameter,
      rest: Texts & { readonly query?: Query } = {},
    ) =>
      route({
        ...{ summary: `Get ${withArticle(called)} by its ${parameter}`, ...common, ...rest },
        params: z.object({ [parameter]: z.string().max(255) } as Record<Parameter, z.ZodString>),
        response: schema,
        example: { params: { [parameter]: newRecord(prefix, unique?.field) } as never },
        handle: async (context, { params }) => {
          const value = String(Object.values(params)[0]);
          return answered(context, await foundByUnique(context, kind, value, parameter));
        },
      }),

    /** Lists published records, as a query string says. */
    list: <const Own extends Filters<Columns>>(filters: Own, texts: Texts = {}) =>
      route({
        ...{ summary: `List ${called}s`, ...common, ...texts },
        query: ofTable(
          table,
          z.object({ ...(expand && { expand }), ...parametersOf(filters), ...listShape }),
        ),
        response: pageSchema(schema),
        example: { names: named(filters) },
        handle: (context, { query }) => listed(context, filters, query as Partial<Search>),
      }),

    /** Searches records, as a body says. `name` is that of its schema in the documentation. */
    search: <const Own extends Filters<Columns>>(name: string, filters: Own) =>
      route({
        ...{ summary: `Search ${called}s`, ...common, bodyOptional: true },
        body: ofTable(
          table,
          z
            .object({
              ...searchShape,
              expand: expand ?? expandParameter([]),
              ...membersOf(filters),
            })
            .meta({ id: name }),
        ),
        response: pageSchema(schema),
        example: { body: searchExample as never, names: named(filters) },
        handle: (context, { body }) => listed(context, filters, body as Partial<Search>),
      }),
  };
}

/** Makes the routes of a kind of record, to be put under their paths by its slice. */
export const recordRoutes = <
  Prefix extends IdPrefix,
  Schema extends z.ZodType,
  Catalogue extends EventCatalogue,
  State,
  Columns extends ColumnTypes,
>(
  kind: Kind<Prefix, Schema> & Written<Schema, Catalogue, State> & Read<Schema, Columns>,
  common: Common<z.output<Schema>>,
) => ({ ...readingRoutes(kind, common), ...writingRoutes(kind, common) });
