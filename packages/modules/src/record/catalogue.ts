import type { AnyProjection } from '@counterfoil/engine/define';
import {
  type AnyAggregate,
  changedFields,
  type Decision,
  isEmpty,
  withoutNulls,
} from '@counterfoil/kernel';
import type { z } from 'zod';
import type { AnyDefinition } from './definition.ts';

/** An entry of a catalogue file: a record without ids, stamps and what is empty. */
export type Entry = Readonly<Record<string, unknown>>;

/** An event of any kind of record. */
export interface AnyEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A record of any kind. */
export interface AnyRecord {
  readonly id: string;
  readonly status: string;
}

type AnyDecision = Decision<AnyRecord | null, AnyEvent>;

/** The records of one kind as entries of catalogue files, and the decisions that make them so. */
export interface CatalogueKind {
  readonly aggregate: AnyAggregate;
  readonly table: AnyProjection;
  readonly prefix: AnyDefinition['prefix'];
  readonly unique: AnyDefinition['unique'] | null;
  /** By name in an entry: the field that holds the id, and the category of the record it names. */
  readonly references: Readonly<Record<string, { readonly field: string; readonly to: string }>>;
  /** Fields that an entry may have beside references. */
  readonly fields: readonly string[];
  /** Fields and references that may change after the record has been created. */
  readonly changeable: readonly string[];
  /** Checks the fields of an entry, references being ids. Throws a ZodError. */
  readonly parse: (fields: Entry) => unknown;
  /** Creates the record of a parsed entry. */
  readonly create: (id: string, parsed: unknown) => AnyDecision;
  /** Makes a record as another one is, which would have been made of the entry. */
  readonly update: (id: string, desired: AnyRecord) => AnyDecision;
  readonly archive: (id: string) => AnyDecision;
  /** The fields of a record, references being ids; null where there is nothing. */
  readonly fieldsOf: (record: AnyRecord) => Entry;
}

interface Commands {
  readonly aggregate: AnyAggregate;
  readonly table: AnyProjection;
  // biome-ignore lint/suspicious/noExplicitAny: commands of every kind.
  readonly createFrom: (id: any, given: any) => Decision<any, any>;
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  readonly update: (id: any, given: any) => Decision<any, any>;
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  readonly archive: (id: any) => Decision<any, any>;
}

const only = (fields: Entry, names: readonly string[]): Entry =>
  Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));

/** Derives the entries of a kind in catalogue files. An entry has the fields of the request that creates. */
export function catalogueKind(
  { prefix, unique, references = {}, changeable, request, entry, view, life }: AnyDefinition,
  { aggregate, table, createFrom, update, archive }: Commands,
): CatalogueKind {
  const referring = Object.keys(references);
  const nameOf = (field: string) => (referring.includes(field) ? field.replace(/_id$/, '') : field);
  const names = referring.map(nameOf);
  const asked = Object.keys((request?.schema as z.ZodObject | undefined)?.shape ?? {});
  const later = entry?.later;
  const fields = [...asked, ...Object.keys(later?.shape ?? {})].filter(
    (field) => !referring.includes(field) && !names.includes(field),
  );
  return {
    ...{ aggregate, table, prefix, unique: unique ?? null, update, archive, fields },
    references: Object.fromEntries(
      referring.map((field) => [nameOf(field), { field, to: references[field]?.name ?? '' }]),
    ),
    changeable: Object.keys(changeable).map(nameOf),
    parse: (given) => ({ given: request?.schema.parse(given), after: later?.parse(given) ?? {} }),
    create: (id, parsed) => (state, at) => {
      const { given, after } = parsed as { readonly given: unknown; readonly after: object };
      const events: readonly AnyEvent[] = createFrom(id, given)(state, at);
      const changes = changedFields<object>(events[0]?.data ?? {}, withoutNulls(after));
      if (isEmpty(changes) || !life.updated) return events;
      return [...events, { type: life.updated.event, data: { ...changes } }];
    },
    fieldsOf: (record) => only((entry?.fields ?? view)(record) as Entry, [...fields, ...referring]),
  };
}
