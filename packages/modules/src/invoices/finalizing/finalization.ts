import type { Following } from '../../following.ts';
import type { InvoiceEvent } from '../events.ts';
import type { InvoiceState } from '../invoice.ts';
import { usageOfTables } from '../usage-readings.ts';
import { finalizationCarriedOut } from './reactions.ts';

/** Makes invoices final, with usage as its tables have it. A request carries it out at once, so that its answer shows it. */
export const finalization = finalizationCarriedOut(usageOfTables);

/** The events that follow from the beginning of a finalisation. */
export const followsFinalization: Following<InvoiceEvent, InvoiceState> = ({ type }) => {
  if (type === 'FinalizationStarted') return [['InvoiceComputed', 'TaxesNotCalculated']];
  return type === 'InvoiceComputed' ? [['InvoiceFinalized', 'InvoiceSkipped']] : [];
};
