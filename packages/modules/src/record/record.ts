import {
  type AskingContext,
  type ColumnTypes,
  type Embeds,
  type Projection,
  publicEvents,
  type RequestContext,
  recordProjection,
  type Stamps,
} from '@counterfoil/engine/define';
import {
  type Aggregate,
  type AnyAggregate,
  aggregate,
  type Changes,
  changedFields,
  createdStamps,
  type Decision,
  type EventCatalogue,
  type EventOf,
  existing,
  type Id,
  type IdPrefix,
  invariant,
  isEmpty,
  notFound,
  type RecordStamps,
  type RecordStatus,
  type Reference,
  referenceSchema,
  type UniqueValue,
  updatedStamps,
  withChanges,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { catalogueKind } from './catalogue.ts';
import {
  type AnyDefinition,
  type Definition,
  type Fields,
  type Kept,
  type Life,
  lowerCase,
  type RecordEvents,
  type Step,
} from './definition.ts';
import { referredRecord, resourcesById } from './look-ups.ts';

/** A record of any kind, as far as all are the same. */
interface AnyKept extends RecordStamps {
  readonly id: string;
  readonly status: RecordStatus;
  readonly [field: string]: unknown;
}

function valuesOf(
  { unique, claims, called }: AnyDefinition,
  record: AnyKept,
): readonly UniqueValue[] {
  if (!unique) return claims?.(record) ?? [];
  const value = record[unique.field];
  if (typeof value !== 'string') return [];
  const problem = `Another ${called} has the ${unique.field} ${JSON.stringify(value)}.`;
  return [{ name: unique.field, value: unique.ignoresCase ? lowerCase(value) : value, problem }];
}

function referencesOf({ references = {} }: AnyDefinition, record: AnyKept): Reference[] {
  return Object.entries(references).flatMap(([field, to]) => {
    const id = record[field];
    if (typeof id !== 'string' || !to) return [];
    const follows = to.follows?.(record) ?? false;
    return [{ category: to.name, id, what: to.called, follows }];
  });
}

/** The aggregate of a definition. What is out of use holds no unique value and refers to nothing. */
function aggregateOf(definition: AnyDefinition): AnyAggregate {
  const { name, called, prefix, life, fixed, changeable, born } = definition;
  const { created, updated, archived, retired, deleted } = life;
  const inUse = (state: AnyKept | null) => (state?.status === 'published' ? state : null);
  return aggregate({
    name,
    scope: 'environment',
    events: {
      [created.event]: z.object({ id: referenceSchema(prefix), ...fixed, ...changeable }),
      ...(updated && { [updated.event]: z.object(changeable).partial() }),
      ...(archived && { [archived.event]: z.object({}) }),
      ...(retired && { [retired.event]: z.object({}) }),
      ...(deleted && { [deleted.event]: z.object({}) }),
    } as Readonly<Record<string, z.ZodType<Partial<AnyKept>>>>,
    initial: null as AnyKept | null,
    evolve: (state, { type, data, stamp }) => {
      if (type === created.event) {
        return { ...(data as AnyKept), status: 'published', ...born, ...createdStamps(stamp) };
      }
      const next = { ...withChanges(existing(state, called), data), ...updatedStamps(stamp) };
      if (type === archived?.event) return { ...next, status: 'archived' };
      if (type === retired?.event) return { ...next, status: 'archived', retired: true };
      if (type === deleted?.event) return { ...next, status: 'deleted' };
      return next;
    },
    isReferable: (state) => inUse(state) !== null,
    // An archived record that could still be deleted stays with what refers to it.
    isRemoved: (state) =>
      state?.retired === true || state?.status === (deleted ? 'deleted' : 'archived'),
    unique: (state) => (inUse(state) ? valuesOf(definition, state as AnyKept) : []),
    refersTo: (state) => (inUse(state) ? referencesOf(definition, state as AnyKept) : []),
  });
}

/** Every step is published, with the whole record as it is after that and the records that it embeds. */
export function publishedRecord<
  Catalogue extends EventCatalogue,
  State,
  Schema extends z.ZodType<{ readonly id: string }>,
>(
  folded: Aggregate<string, Catalogue, State>,
  {
    name,
    life,
    schema,
    embeds = {},
  }: {
    readonly name: string;
    readonly life: Life;
    readonly schema: Schema;
    readonly embeds?: Embeds<NonNullable<State>> | undefined;
  },
  view: (state: State) => z.output<Schema>,
) {
  const steps = Object.values<Step>({ ...life });
  const types = new Map(steps.map(({ event, publishes }) => [event, publishes]));
  const body = z.object({ [name]: schema });
  return publicEvents(
    folded,
    ({ event, after }, embedded) => {
      const type = types.get(event.type);
      invariant(type, `nothing is said about how ${event.type} is published`);
      const resource = view(after);
      return [{ type, resourceId: resource.id, body: { [name]: { ...resource, ...embedded } } }];
    },
    Object.fromEntries(steps.map(({ publishes, when }) => [publishes, { summary: when, body }])),
    Object.fromEntries(
      Object.entries(embeds).map(([member, { id, follows, ...shown }]) => [
        member,
        {
          ...shown,
          id: ({ after }: { readonly after: State }) => after && id(after),
          follows: ({ after }: { readonly after: State }) => after && follows?.(after),
        },
      ]),
    ),
  );
}

/** The commands of a kind, as pure decisions. */
function commandsOf<Key extends string, All extends object, Changed, State, Event, Given>(
  definition: AnyDefinition,
) {
  type Command = Decision<State, Event>;
  const { called, life, changeable, check, request } = definition;
  const current = (state: State, id: string) => writable(state as AnyKept | null, called, id);
  const event = (step: Step | undefined, data: object) => {
    invariant(step, `the life of a ${called} has no such step`);
    return [{ type: step.event, data }] as Event[];
  };
  const create =
    (data: All & { readonly id: Key }): Command =>
    (state) => {
      invariant(state === null, `${called} ${data.id} is created twice`);
      check?.(data);
      return event(life.created, data);
    };
  /** Returns the fields of the record that a request asks for. */
  const fieldsFrom = (given: Given): All => {
    invariant(request, `no request creates a ${called}`);
    return request.fields(given) as All;
  };
  return {
    /** Creates the record with all its fields. */
    create,
    /** Creates the record that a request asks for. */
    createFrom: (id: Key, given: Given): Command => create({ ...fieldsFrom(given), id }),
    fieldsFrom,
    /** Changes the fields that are given, may change and differ; when none does, nothing happens (D18). */
    update:
      (id: Key, given: Changes<Changed>): Command =>
      (state) => {
        const before = current(state, id);
        const own = Object.entries(given).filter(([field]) => Object.hasOwn(changeable, field));
        const changes = changedFields<AnyKept>(before, Object.fromEntries(own));
        if (isEmpty(changes)) return [];
        check?.(withChanges(before, changes));
        return event(life.updated, changes);
      },
    /** Takes the record out of use, for good. One that is archived already stays as it is. */
    archive:
      (id: Key): Command =>
      (state) => {
        if ((state as AnyKept | null)?.status === 'archived') return [];
        current(state, id);
        return event(life.archived, {});
      },
    /** Takes the record out of use where nothing refers to it. One that is out of use stays as it is. */
    retire: (): Command => (state) =>
      (state as AnyKept | null)?.status === 'published' ? event(life.retired, {}) : [],
    /** Removes the record, for good. */
    remove:
      (id: Key): Command =>
      (state) => {
        current(state, id);
        return event(life.deleted, {});
      },
  };
}

/**
 * Declares a kind of record that is little more than its fields: it is created, some of its fields
 * change, and it is archived or deleted for good. From the one definition follow its aggregate with unique
 * values and references, its commands, its read table, its public events and its entries in catalogue
 * files; `recordRoutes` adds the routes.
 */
export function record<
  const Name extends string,
  Prefix extends IdPrefix,
  const Steps extends Life,
  Fixed extends z.ZodRawShape,
  Changeable extends z.ZodRawShape,
  Schema extends z.ZodType<Stamps & { readonly id: string }>,
  const TableName extends string,
  const Columns extends ColumnTypes,
  Request extends z.ZodType = z.ZodNever,
  Born = unknown,
>(
  definition: Definition<
    Name,
    Prefix,
    Steps,
    Fixed,
    Changeable,
    Born,
    Request,
    Schema,
    TableName,
    Columns
  >,
) {
  const { name, called, prefix, schema, unique, table } = definition;
  type Record = Kept<Prefix, Fixed & Changeable, Born>;
  type State = Record | null;
  type Catalogue = RecordEvents<Steps, Prefix, Fixed, Changeable>;
  // The events of a life that is not known yet are beyond the compiler.
  const folded = aggregateOf(definition) as Aggregate<Name, Catalogue, State>;
  const view = (state: State): z.output<Schema> => definition.view(existing(state, called));
  const commands = commandsOf<
    Id<Prefix>,
    Fields<Fixed & Changeable>,
    Fields<Changeable>,
    State,
    EventOf<Catalogue>,
    z.output<Request>
  >(definition);
  const rows: Projection<TableName, State, z.output<Schema>, Columns> = recordProjection(folded, {
    ...table,
    view,
  });
  return {
    ...{
      name,
      called,
      prefix,
      schema,
      unique: unique ?? null,
      aggregate: folded,
      table: rows,
      view,
      embeds: definition.embeds,
    },
    ...commands,
    publicEvents: publishedRecord(folded, definition, view),
    catalogue: catalogueKind(definition, { aggregate: folded, table: rows, ...commands }),
    /** Resources by id, archived ones included, for what shows them inside. */
    byIds: (context: Pick<AskingContext, 'read'>, ids: readonly (string | null | undefined)[]) =>
      resourcesById(context, rows, ids),
    /**
     * The record that a field of a request names, from the log and so never behind. Unknown or deleted:
     * 404 naming the field; archived: 400.
     */
    referred: (context: RequestContext, id: string, field = `${name}_id`): Promise<Record> =>
      referredRecord<Catalogue, Record>(context, folded, { id, what: called, field }),
    /**
     * The published record with a unique value, from the log and so never behind. 404 naming the field
     * where there is none: what is archived has given its value back.
     */
    async holder(context: RequestContext, value: string, field: string): Promise<Record> {
      invariant(unique, `a ${called} has no unique field`);
      const compared = unique.ignoresCase ? lowerCase(value) : value;
      const id = await context.holderOf(folded, unique.field, compared);
      if (id === null) throw notFound(called, value, field);
      return existing(await context.load(folded, id), called);
    },
  };
}
