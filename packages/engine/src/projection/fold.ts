import {
  type AnyAggregate,
  BrokenInvariant,
  type EventCatalogue,
  type EventOf,
} from '@counterfoil/kernel';
import type { AnyReadTable, Placed } from '../define/read-table.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { parseStreamName } from '../log/stream-name.ts';
import type { StoredEvent } from '../log/types.ts';
import { isEngineEvent } from '../stream-cache/stream-state.ts';
import { cleanText, placeKey, type Row, type RowPlace } from './row.ts';

/** An event that a table cannot take, and why. The table stops before it. */
export interface Poison {
  readonly event: StoredEvent;
  readonly error: unknown;
}

/** An event of an aggregate, as it was stored and as a projection sees it. */
export interface Decoded {
  readonly stored: StoredEvent;
  readonly event: Placed<EventOf<EventCatalogue>>;
}

/** Events of one aggregate, in order, up to the one that cannot be understood, if any. */
export interface DecodedEvents {
  readonly events: readonly Decoded[];
  readonly poison: Poison | null;
}

/** The aggregate's own name is the category of its streams. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/**
 * Turns events of an aggregate into what projections see. Events that the engine wrote for itself
 * are left out. An event of which this program does not know the type or the version ends the
 * list: it must not be skipped. Never throws.
 */
export function decodeEvents(
  aggregate: AnyAggregate,
  events: readonly StoredEvent[],
): DecodedEvents {
  const decoded: Decoded[] = [];
  for (const stored of events) {
    try {
      const event = placedEvent(aggregate, stored);
      if (event) decoded.push({ stored, event });
    } catch (error) {
      return { events: decoded, poison: { event: stored, error } };
    }
  }
  return { events: decoded, poison: null };
}

function placedEvent(
  aggregate: AnyAggregate,
  stored: StoredEvent,
): Placed<EventOf<EventCatalogue>> | null {
  if (!belongsTo(aggregate, stored)) {
    if (isEngineEvent(stored)) return null;
    throw new BrokenInvariant(`${aggregate.name} has no event ${stored.type}`);
  }
  const parts = parseStreamName(stored.stream);
  if (!parts) throw new BrokenInvariant(`${stored.stream} is no stream name`);
  const { type, data, stamp } = stampedEvent(aggregate, stored);
  return {
    type,
    data,
    stamp,
    event_id: stored.id,
    aggregate_id: parts.id,
    revision: stored.revision,
    position: String(stored.position),
  };
}

/** A place with its key. */
type KeyedPlace = RowPlace & { readonly key: string };

/** An event with the rows it touches. */
interface Step extends Decoded {
  readonly places: readonly KeyedPlace[];
}

/** What a table has to do for a batch: steps in order, up to the event it cannot take, if any. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly poison: Poison | null;
}

/** Finds out which rows of a table the events touch. Never throws. */
export function planSteps(table: AnyReadTable, { events, poison }: DecodedEvents): Plan {
  const steps: Step[] = [];
  for (const { stored, event } of events) {
    try {
      const keys = table.keys(event);
      if (keys.length === 0) continue;
      const scope = scopeOf(table, event);
      const different = keys.length === 1 ? keys : [...new Set(keys)];
      steps.push({ stored, event, places: different.map((key) => placeOf(scope, key)) });
    } catch (error) {
      return { steps, poison: { event: stored, error } };
    }
  }
  return { steps, poison };
}

function placeOf(scope: string, key: string): KeyedPlace {
  const id = cleanText(key);
  return { scope, id, key: placeKey({ scope, id }) };
}

function scopeOf(table: AnyReadTable, { stamp }: Placed<EventOf<EventCatalogue>>): string {
  if (table.aggregate.scope === 'tenant') return stamp.tenant_id;
  if (stamp.environment_id === null) {
    throw new BrokenInvariant(`an event of ${table.aggregate.name} has no environment`);
  }
  return stamp.environment_id;
}

/** Rows by place; null is a place where there is no row. */
export type Rows = Map<string, Row | null>;

/** What folding the steps of a plan came to. */
interface Folded {
  /** Rows that changed; null for those that are gone. */
  readonly changed: Rows;
  /** The event that could not be folded, if any; rows are as before that event then. */
  readonly poison: Poison | null;
}

/**
 * Folds the steps of a plan, in order, onto the rows that `known` returns. The result does not
 * depend on how events are cut into batches: each event's row is made from the row before it,
 * the event and nothing else. A row that several events change is shown to `view` once, as it is
 * in the end; only when that fails are the events gone through one by one, to name the one at fault.
 */
export function foldSteps(
  table: AnyReadTable,
  plan: Plan,
  known: (key: string) => Row | null,
): Folded {
  const drafts: Drafts = new Map();
  const poison = foldDrafts(table, plan, known, drafts) ?? plan.poison;
  try {
    const changed: Rows = new Map();
    for (const [key, draft] of drafts) changed.set(key, finished(table, draft));
    return { changed, poison };
  } catch {
    return foldOneByOne(table, plan, known);
  }
}

/** As `foldSteps`, with every row shown after every event. */
function foldOneByOne(table: AnyReadTable, plan: Plan, known: (key: string) => Row | null): Folded {
  const changed: Rows = new Map();
  for (const step of plan.steps) {
    const drafts: Drafts = new Map();
    const single = { steps: [step], poison: null };
    const current = (key: string) => {
      const row = changed.get(key);
      return row === undefined ? known(key) : row;
    };
    const poison = foldDrafts(table, single, current, drafts);
    if (poison) return { changed, poison };
    try {
      const rows = [...drafts].map(([key, draft]) => [key, finished(table, draft)] as const);
      for (const [key, row] of rows) changed.set(key, row);
    } catch (error) {
      return { changed, poison: { event: step.stored, error } };
    }
  }
  return { changed, poison: plan.poison };
}

/** A row under way: what it was, and what each event of the batch made of its state. */
interface Draft {
  readonly place: KeyedPlace;
  readonly before: Row | null;
  /** In order; the state null is a row that is gone. */
  readonly versions: { readonly state: unknown; readonly event: Placed<EventOf<EventCatalogue>> }[];
}

type Drafts = Map<string, Draft>;

function foldDrafts(
  table: AnyReadTable,
  plan: Plan,
  known: (key: string) => Row | null,
  drafts: Drafts,
): Poison | null {
  for (const { stored, event, places } of plan.steps) {
    try {
      const touched = places.map((place) => {
        const draft = drafts.get(place.key) ?? {
          place,
          before: known(place.key),
          versions: [],
        };
        return { draft, state: foldState(table, draft, event) };
      });
      // Only now, so that an event that fails for one of its rows has touched none of them.
      for (const { draft, state } of touched) {
        draft.versions.push({ state, event });
        drafts.set(draft.place.key, draft);
      }
    } catch (error) {
      return { event: stored, error };
    }
  }
  return null;
}

function foldState(
  table: AnyReadTable,
  { place, before, versions }: Draft,
  event: Placed<EventOf<EventCatalogue>>,
): unknown {
  const last = versions.at(-1);
  const current = last && last.state !== null ? last.event.stamp.tenant_id : undefined;
  const tenantId = last ? current : before?.tenantId;
  if (tenantId !== undefined && tenantId !== event.stamp.tenant_id) {
    throw new BrokenInvariant(`row ${place.id} of ${table.name} belongs to another tenant`);
  }
  const state: unknown = table.fold(last ? last.state : (before?.state ?? null), event, place.id);
  if (state === undefined) throw new BrokenInvariant(`${table.name}: fold returned undefined`);
  return state;
}

/** The row that the last event left; null when it is gone. */
function finished(table: AnyReadTable, { place, before, versions }: Draft): Row | null {
  const last = versions.at(-1);
  if (!last) throw new BrokenInvariant(`${table.name}: a row changed without an event`);
  const { state, event } = last;
  if (state === null) return null;
  const { stamp } = event;
  const resource: Row['resource'] = table.view(state) ?? null;
  return {
    scope: place.scope,
    id: place.id,
    key: place.key,
    tenantId: stamp.tenant_id,
    environmentId: table.aggregate.scope === 'tenant' ? null : stamp.environment_id,
    state,
    resource,
    createdAt: textOf(resource?.created_at) ?? earlierCreation(table, before, versions),
    updatedAt: textOf(resource?.updated_at) ?? stamp.occurred_at,
    revision: event.revision,
    position: event.position,
  };
}

/** When a row came about that does not say so itself: what it said last, else its first event. */
function earlierCreation(
  table: AnyReadTable,
  before: Row | null,
  versions: Draft['versions'],
): string {
  let created: string | null = before?.createdAt ?? null;
  for (const { state, event } of versions.slice(0, -1)) {
    if (state === null) created = null;
    else {
      created = textOf(table.view(state)?.created_at) ?? created ?? event.stamp.occurred_at;
    }
  }
  return created ?? versions.at(-1)?.event.stamp.occurred_at ?? '';
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
