import {
  aggregate,
  type Decision,
  dayIn,
  derivedId,
  type EventOf,
  existing,
  type Instant,
  type InvoiceId,
} from '@counterfoil/kernel';
import { z } from 'zod';

const events = {
  /** An invoice has its number in the sequence. */
  NumberTaken: z.object({
    invoice_id: z.string().transform((text) => text as InvoiceId),
    number: z.number().int(),
  }),
} as const;
export type SequenceEvent = EventOf<typeof events>;

/** A sequence of numbers without gaps. */
interface Sequence {
  readonly last: number;
  /** The last invoices that took one, with their numbers: who asks again is among them. */
  readonly recent: readonly { readonly invoice_id: InvoiceId; readonly number: number }[];
}

/** Invoices that are remembered: many more than are made final in one sequence at a time. */
const recentMaximum = 200;

/**
 * Numbers of invoices: one stream for each prefix, which is the whole of its id (E 15.4 B), and one for each subscription. An invoice
 * that asks again has the number that it has: the key of its command says so for ever, and the state for those of late.
 */
export const invoiceSequence = aggregate({
  name: 'invoice_sequence',
  scope: 'environment',
  events,
  initial: null as Sequence | null,
  evolve: (state, { data }): Sequence => ({
    last: data.number,
    recent: [...(state?.recent ?? []), data].slice(-recentMaximum),
  }),
});

/**
 * Takes the next number of a sequence for an invoice; none again for one that has its number.
 *
 * @param first the number of the first invoice of the sequence
 */
export const takeNumber =
  (invoice_id: InvoiceId, first = 1): Decision<Sequence | null, SequenceEvent> =>
  (state) =>
    numberIn(state, invoice_id) === null
      ? [{ type: 'NumberTaken', data: { invoice_id, number: state ? state.last + 1 : first } }]
      : [];

/**
 * Takes another number for an invoice, in place of one that somebody else's invoice has: the first that is free, as far as known. It
 * leaves no gap, because the other has that number. No event where it was replaced before.
 */
export const replaceNumber =
  (invoice_id: InvoiceId, taken: number, free: number): Decision<Sequence | null, SequenceEvent> =>
  (state) =>
    state && numberIn(state, invoice_id) === taken
      ? [{ type: 'NumberTaken', data: { invoice_id, number: Math.max(state.last + 1, free) } }]
      : [];

const numberIn = (state: Sequence | null, invoiceId: InvoiceId): number | null =>
  state?.recent.findLast(({ invoice_id }) => invoice_id === invoiceId)?.number ?? null;

/** The number that an invoice has in a sequence after it has asked for one. */
export const numberTaken = (state: Sequence | null, invoiceId: InvoiceId): number =>
  existing(numberIn(state, invoiceId), 'number of the invoice');

/** The form of the numbers of an environment. */
export interface NumberForm {
  readonly prefix: string;
  readonly separator: string;
  readonly format: 'YYYYMM' | 'YYYYMMDD' | 'YYMMDD' | 'YY' | 'YYYY';
  readonly suffix_length: number;
  readonly timezone: string;
}

/** The part of a number before its place in the sequence: `INV-202602`, by the day in the zone of the form. */
export function numberPrefix(
  { prefix, separator, format, timezone }: NumberForm,
  at: Instant,
): string {
  const { year, month, day } = dayIn(at, timezone);
  const [yyyy, mm, dd] = [String(year).padStart(4, '0'), twoDigits(month), twoDigits(day)];
  const dates = {
    YYYYMM: yyyy + mm,
    YYYYMMDD: yyyy + mm + dd,
    YYMMDD: yyyy.slice(-2) + mm + dd,
    YY: yyyy.slice(-2),
    YYYY: yyyy,
  } as const;
  return [prefix, dates[format]].join(separator);
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** The number of an invoice as it is shown: `INV-202602-00001`. */
export const shownNumber = (
  prefix: string,
  number: number,
  { separator, suffix_length }: Pick<NumberForm, 'separator' | 'suffix_length'>,
): string => [prefix, String(number).padStart(suffix_length, '0')].join(separator);

/** The id of the stream of a prefix: its letters and figures, for those who look, and a digest that tells all prefixes apart. */
export const sequenceId = (prefix: string): string =>
  `${prefix.replaceAll(/[^A-Za-z0-9]/g, '_')}_${derivedId('inv', prefix).slice('inv_'.length)}`;
