import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StoredEvent, schemaVersion, stampedEvent } from '@counterfoil/engine';
import type { AnyProjection } from '@counterfoil/engine/define';
import type { AnyAggregate } from '@counterfoil/kernel';
import { modules, secretsFrom } from '@counterfoil/modules';

/** An event as it was once written, without its place in the log. */
export type GoldenEvent = Pick<StoredEvent, 'id' | 'type' | 'data' | 'metadata'>;

/**
 * One version of one type of event: a record's events up to the first of that version, and what the
 * read models showed of it then. Files of the corpus are written once and never changed.
 */
export interface Golden {
  readonly id: string;
  readonly events: readonly GoldenEvent[];
  /** By table: the rows as they were shown. */
  readonly shows: Shown;
}
export type Shown = Readonly<Record<string, readonly unknown[]>>;

export const corpusFolder = join(import.meta.dirname, 'corpus');

const slices = modules({ secrets: secretsFrom('0'.repeat(64)) });
const tables: readonly AnyProjection[] = slices.flatMap((slice) => slice.tables ?? []);
export const aggregates: readonly AnyAggregate[] = slices.flatMap((slice) => slice.aggregates);
export const aggregateOf = (name: string): AnyAggregate => {
  const found = aggregates.find((aggregate) => aggregate.name === name);
  if (!found) throw new Error(`there is no aggregate ${name}`);
  return found;
};

/** Name of the file of an event: its type in its current version. */
export const fileOf = (aggregate: AnyAggregate, type: string): string =>
  join(aggregate.name, `${type}.v${schemaVersion(aggregate, type)}.json`);

/** All files of the corpus, by their path in it. */
export function corpus(): ReadonlyMap<string, Golden> {
  const files = readdirSync(corpusFolder, { recursive: true, encoding: 'utf8' });
  return new Map(
    files
      .filter((file) => file.endsWith('.json'))
      .map((file) => [file, JSON.parse(readFileSync(join(corpusFolder, file), 'utf8'))]),
  );
}

/**
 * Returns what today's code shows of a record with these events. Each must still be of the form it
 * had.
 */
export function shownToday(aggregate: AnyAggregate, { id, events }: Omit<Golden, 'shows'>): Shown {
  const own = tables.filter(({ aggregates }) =>
    aggregates.some(({ name }) => name === aggregate.name),
  );
  const rows = own.map(() => new Map<string, unknown>());
  let state: unknown = aggregate.initial;
  for (const [revision, golden] of events.entries()) {
    const stored = { ...golden, stream: '', revision, position: BigInt(revision) };
    const event = stampedEvent(aggregate, stored);
    aggregate.events[event.type].parse(event.data);
    state = aggregate.evolve(state, event);
    const placed = {
      ...event,
      aggregate: aggregate.name,
      event_id: golden.id,
      aggregate_id: id,
      revision,
      position: String(revision),
    };
    for (const [index, table] of own.entries()) {
      for (const key of table.keys(placed)) {
        rows[index]?.set(key, table.fold(rows[index]?.get(key) ?? null, placed, key));
      }
    }
  }
  return Object.fromEntries(
    own.map(({ name, view }, index) => [
      name,
      [...(rows[index]?.values() ?? [])].flatMap((row) =>
        row === null ? [] : [JSON.parse(JSON.stringify(view(row)))],
      ),
    ]),
  );
}
