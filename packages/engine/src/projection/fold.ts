import { BrokenInvariant } from '@counterfoil/kernel';
import type { AnyProjectedEvent, AnyProjection } from '../define/projection.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { parseStreamName } from '../log/stream-name.ts';
import type { StoredEvent } from '../log/types.ts';
import { isEngineEvent } from '../stream-cache/stream-state.ts';
import { cleanText, placeKey, type Row, type RowPlace } from './row.ts';
import { scopeOf } from './table-shape.ts';

/** The aggregate's own name is the category of its streams. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** The categories of the streams whose events some projections fold. */
export const categoriesOf = (projections: readonly AnyProjection[]): ReadonlySet<string> =>
  new Set(projections.flatMap(({ aggregates }) => aggregates.map(({ name }) => name)));

/** The events of a batch. An event that several projections fold is decoded once. */
export class Batch {
  readonly #stored: ReadonlyMap<string, readonly StoredEvent[]>;
  readonly #decoded = new Map<string, readonly AnyProjectedEvent[]>();

  constructor(events: readonly StoredEvent[]) {
    this.#stored = Map.groupBy(events, ({ stream }) => categoryOf(stream));
  }

  /** Tells whether it has an event of a projection's aggregates. */
  concerns({ aggregates }: AnyProjection): boolean {
    return aggregates.some(({ name }) => this.#stored.has(name));
  }

  /** The events of a projection's aggregates, as they were stored, in the order of the log. */
  storedFor({ aggregates }: AnyProjection): readonly StoredEvent[] {
    return inOrder(aggregates.map(({ name }) => this.#stored.get(name) ?? []));
  }

  /**
   * The same as the projection sees them, without those that the engine wrote for itself. Throws on
   * an event of which this program does not know the type or the version: it must not be skipped.
   */
  eventsFor({ aggregates }: AnyProjection): readonly AnyProjectedEvent[] {
    return inOrder(
      aggregates.map((aggregate) => {
        const { name } = aggregate;
        const events =
          this.#decoded.get(name) ??
          (this.#stored.get(name) ?? []).flatMap((stored) => projected(aggregate, stored));
        this.#decoded.set(name, events);
        return events;
      }),
    );
  }
}

type Source = AnyProjection['aggregates'][number];

/** Lists that are each in the order of the log, as one list in that order. */
function inOrder<Event extends { readonly position: string | bigint }>(
  lists: readonly (readonly Event[])[],
): readonly Event[] {
  const filled = lists.filter(({ length }) => length > 0);
  if (filled.length < 2) return filled[0] ?? [];
  return filled
    .flat()
    .sort((left, right) => Number(BigInt(left.position) - BigInt(right.position)));
}

function projected(aggregate: Source, stored: StoredEvent): AnyProjectedEvent[] {
  if (!belongsTo(aggregate, stored)) {
    if (isEngineEvent(stored)) return [];
    throw new BrokenInvariant(`${aggregate.name} has no event ${stored.type}`);
  }
  const parts = parseStreamName(stored.stream);
  if (!parts) throw new BrokenInvariant(`${stored.stream} is no stream name`);
  const { type, data, stamp } = stampedEvent(aggregate, stored);
  return [
    {
      type,
      data,
      stamp,
      aggregate: aggregate.name,
      event_id: stored.id,
      aggregate_id: parts.id,
      revision: stored.revision,
      position: String(stored.position),
    },
  ];
}

/** A place with its key. */
type KeyedPlace = RowPlace & { readonly key: string };

/** An event with the rows it touches. */
export interface Step {
  readonly event: AnyProjectedEvent;
  readonly places: readonly KeyedPlace[];
  /** Those of the places where there was no row before. */
  readonly added: readonly KeyedPlace[];
}

/** The rows that events touch, event by event in order. Throws what the projection's `keys` throws. */
export const planSteps = (
  projection: AnyProjection,
  events: readonly AnyProjectedEvent[],
): readonly Step[] =>
  events.flatMap((event) => {
    const keys = projection.keys(event);
    if (keys.length === 0) return [];
    const scope = rowScope(projection, event);
    const adds = projection.adds?.(event) ?? [];
    const different = keys.length === 1 ? keys : [...new Set(keys)];
    const places = different.map((key) => placeOf(scope, key));
    const isAdded = (_: unknown, index: number) => adds.includes(different[index] ?? '');
    return [{ event, places, added: adds.length === 0 ? [] : places.filter(isAdded) }];
  });

function placeOf(scope: string, key: string): KeyedPlace {
  const id = cleanText(key);
  return { scope, id, key: placeKey({ scope, id }) };
}

function rowScope(projection: AnyProjection, { aggregate, stamp }: AnyProjectedEvent): string {
  if (scopeOf(projection) === 'tenant') return stamp.tenant_id;
  if (stamp.environment_id === null) {
    throw new BrokenInvariant(`an event of ${aggregate} has no environment`);
  }
  return stamp.environment_id;
}

/** Rows by key; null is a place where there is no row. */
export type Rows = Map<string, Row | null>;

/** A row under way. It changes in place: there is one step for each event and row. */
interface Draft {
  readonly place: KeyedPlace;
  /** Null while there is no row. */
  state: unknown;
  /** The owner of the row; null while there is none. */
  tenantId: string | null;
  /** The last event that touched it; null while it is as it was. */
  event: AnyProjectedEvent | null;
}

/**
 * Folds steps in order onto the rows that `known` returns, and returns the rows that changed. The result
 * does not depend on how events are cut into batches: each event's row is made from the row before
 * it, the event and nothing else. A row that several events change is shown to `view` once, as it is in the
 * end. Throws what the projection's functions throw.
 */
export function foldSteps(
  projection: AnyProjection,
  steps: readonly Step[],
  known: (key: string) => Row | null,
): Rows {
  const drafts = new Map<string, Draft>();
  for (const { event, places } of steps) {
    for (const place of places) {
      let draft = drafts.get(place.key);
      if (!draft) {
        draft = draftOf(place, known(place.key));
        drafts.set(place.key, draft);
      }
      foldInto(draft, projection, event);
    }
  }
  const rows: Rows = new Map();
  for (const [key, draft] of drafts) rows.set(key, finished(projection, draft));
  return rows;
}

const draftOf = (place: KeyedPlace, row: Row | null): Draft => ({
  place,
  state: row?.state ?? null,
  tenantId: row?.tenant_id ?? null,
  event: null,
});

function foldInto(draft: Draft, projection: AnyProjection, event: AnyProjectedEvent): void {
  const { place, tenantId } = draft;
  const { tenant_id } = event.stamp;
  if (tenantId !== null && tenantId !== tenant_id) {
    throw new BrokenInvariant(`row ${place.id} of ${projection.name} belongs to another tenant`);
  }
  const next: unknown = projection.fold(draft.state, event, place.id);
  if (next === undefined) throw new BrokenInvariant(`${projection.name}: fold returned undefined`);
  draft.state = next;
  draft.tenantId = next === null ? null : tenant_id;
  draft.event = event;
}

/** The row that the last event left; null when it is gone. */
function finished(projection: AnyProjection, { place, state, event }: Draft): Row | null {
  if (state === null || event === null) return null;
  const { stamp } = event;
  const resource: Row['resource'] = projection.view(state) ?? null;
  const { scope, id, key } = place;
  return {
    scope,
    id,
    key,
    tenant_id: stamp.tenant_id,
    environment_id: scopeOf(projection) === 'tenant' ? null : stamp.environment_id,
    state,
    resource,
    // A row that shows nothing has no stamps of its own, and nobody sees them.
    created_at: resource?.created_at ?? stamp.occurred_at,
    updated_at: resource?.updated_at ?? stamp.occurred_at,
    revision: event.revision,
    position: event.position,
  };
}
