import type { InvoiceEvent } from '../events.ts';
import { usageOfTables } from '../usage-readings.ts';
import { finalizationCarriedOut } from './reactions.ts';

/** Makes invoices final, with usage as its tables have it. A request carries it out at once, so that its answer shows it. */
export const finalization = finalizationCarriedOut(usageOfTables);

/** The events that follow from the beginning of a finalisation. */
export const finalizationEvents = [
  'InvoiceComputed',
  'InvoiceFinalized',
  'InvoiceSkipped',
] as const satisfies readonly InvoiceEvent['type'][];
