import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  invariant,
  type RecordStamps,
  referenceSchema,
  updatedStamps,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type CatalogImport, changeSchema, refusedSchema } from './schema.ts';

/** The events to be appended to one stream, as their aggregate has them. */
const stepData = z.object({
  aggregate: z.string(),
  id: z.string(),
  events: z.array(z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) })),
});
export type Step = z.output<typeof stepData>;

const startedData = z.object({
  id: referenceSchema('cimp'),
  prune: z.boolean(),
  /** In the order in which they are carried out. */
  steps: z.array(stepData),
  changes: z.array(changeSchema),
  unchanged: z.number().int(),
});

const finishedData = z.object({ refused: z.array(refusedSchema) });

const events = {
  /** The whole decision: from here on the import happens, whatever becomes of the process. */
  CatalogImportStarted: startedData,
  CatalogImportFinished: finishedData,
} as const;
export type CatalogImportEvent = EventOf<typeof events>;

type Refused = z.output<typeof refusedSchema>;

export interface CatalogImportRecord extends z.output<typeof startedData>, RecordStamps {
  /** Null until all steps have been carried out or refused. */
  readonly finished: { readonly refused: readonly Refused[] } | null;
}

/** Null until the import is decided. */
export type CatalogImportState = CatalogImportRecord | null;

export const catalogImport = aggregate({
  name: 'catalog_import',
  scope: 'environment',
  events,
  initial: null as CatalogImportState,
  evolve: (state, event): CatalogImportState => {
    switch (event.type) {
      case 'CatalogImportStarted':
        return { ...event.data, finished: null, ...createdStamps(event.stamp) };
      case 'CatalogImportFinished':
        return {
          ...existing(state, 'catalogue import'),
          // Steps that have been carried out are not needed any more; they stay in the log.
          steps: [],
          finished: event.data,
          ...updatedStamps(event.stamp),
        };
      default:
        return event satisfies never;
    }
  },
});

/**
 * Decides an import. One without steps is none and nothing is written, unless its request has an
 * idempotency key: then that it had nothing to do must be found again when the catalogue is another.
 */
export const startImport =
  (
    plan: z.input<typeof startedData>,
    isKeyed = false,
  ): Decision<CatalogImportState, CatalogImportEvent> =>
  (state) => {
    invariant(state === null, `catalogue import ${plan.id} is decided twice`);
    if (plan.steps.length === 0 && !isKeyed) return [];
    return [{ type: 'CatalogImportStarted', data: plan as z.output<typeof startedData> }];
  };

/** Records that all steps are behind it. Doing it again changes nothing. */
export const finishImport =
  (refused: readonly Refused[]): Decision<CatalogImportState, CatalogImportEvent> =>
  (state) =>
    state === null || state.finished !== null
      ? []
      : [{ type: 'CatalogImportFinished', data: { refused: [...refused] } }];

/** The import as the API shows it, without its steps. */
export function catalogImportView(state: CatalogImportState): CatalogImport {
  const { steps: _steps, prune: _prune, finished, ...shown } = existing(state, 'catalogue import');
  return {
    ...shown,
    status: 'published',
    import_status: finished ? 'finished' : 'applying',
    refused: [...(finished?.refused ?? [])],
  };
}
