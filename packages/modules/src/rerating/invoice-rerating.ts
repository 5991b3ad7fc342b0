import {
  aggregate,
  type CreditNoteId,
  type DecimalText,
  type Decision,
  decimal,
  derivedId,
  type EventOf,
  type InvoiceId,
  refusal,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { z } from 'zod';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);

/** The part of a line that is mended: before tax and after discounts, of one that costs more above zero. */
const correctionData = z.object({
  line_id: z.string(),
  display_name: z.string(),
  price_type: z.enum(['FIXED', 'USAGE']),
  net: text<DecimalText>(),
});
export type Correction = z.output<typeof correctionData>;

const events = {
  /** The difference of an invoice under other prices is to be mended; the documents follow. */
  RerateApplied: z.object({
    /** Number of the request among those for the invoice, from 1 on. */
    number: z.number().int(),
    prices: z.array(z.unknown()),
    memo: z.string().nullable(),
    corrections: z.array(correctionData),
  }),
  /** The invoice has not taken the credit note of a request: its lines are not mended. */
  CorrectionRefused: z.object({
    number: z.number().int(),
    code: z.string(),
    message: z.string(),
  }),
  /** The documents of a request are made: what it asked for has come to its end. */
  CorrectionsDocumented: z.object({
    number: z.number().int(),
    /** Lines that its documents mend, and those whose credit note the invoice has not taken. */
    mended: z.number().int(),
    refused: z.number().int(),
  }),
} as const;
export type InvoiceReratingEvent = EventOf<typeof events>;

/** The corrections of an invoice, by request; null before the first. */
export type InvoiceReratingState = {
  readonly requests: readonly {
    readonly number: number;
    readonly corrections: readonly Correction[];
    readonly is_documented: boolean;
  }[];
} | null;

/** The corrections of one invoice, in a stream that has its id. */
export const invoiceRerating = aggregate({
  name: 'invoice_rerating',
  scope: 'environment',
  events,
  initial: null as InvoiceReratingState,
  evolve: (state, event): InvoiceReratingState => {
    const requests = state?.requests ?? [];
    switch (event.type) {
      case 'RerateApplied': {
        const { number, corrections } = event.data;
        return { requests: [...requests, { number, corrections, is_documented: false }] };
      }
      case 'CorrectionRefused':
        return {
          requests: requests.map((request) =>
            request.number === event.data.number
              ? { ...request, corrections: request.corrections.filter(isMore) }
              : request,
          ),
        };
      case 'CorrectionsDocumented':
        return {
          requests: requests.map((request) =>
            request.number === event.data.number ? { ...request, is_documented: true } : request,
          ),
        };
      default:
        return event satisfies never;
    }
  },
});

/** Tells whether a line costs more than was billed. */
export const isMore = ({ net }: Pick<Correction, 'net'>): boolean => decimal(net).cmp(zero) > 0;

/** The part of a line that was mended so far. */
export const correctedOf = (state: InvoiceReratingState, lineId: string): DecimalText =>
  textOf(
    (state?.requests ?? [])
      .flatMap(({ corrections }) => corrections)
      .filter(({ line_id }) => line_id === lineId)
      .reduce((sum, { net }) => sum.plus(decimal(net)), zero),
  );

/** Requests for one invoice at most: each is part of its state. */
const requestsMaximum = 100;

interface Applied {
  readonly prices: readonly unknown[];
  readonly memo: string | null;
  /** The whole difference of each line, whatever was mended before. */
  readonly differences: readonly Correction[];
}

/** Mends what earlier requests have left of the differences of an invoice. Nothing left, no event. */
export const applyRerate =
  ({ prices, memo, differences }: Applied): Decision<InvoiceReratingState, InvoiceReratingEvent> =>
  (state) => {
    const corrections = differences.flatMap((line) => {
      const net = textOf(decimal(line.net).minus(decimal(correctedOf(state, line.line_id))));
      return net === zeroText ? [] : [{ ...line, net }];
    });
    const number = (state?.requests.length ?? 0) + 1;
    if (corrections.length === 0) return [];
    if (number > requestsMaximum) {
      throw refusal(
        `${requestsMaximum} requests have mended this invoice, and there are no more.`,
        {
          reason: 'limit_reached',
          limit: requestsMaximum,
        },
      );
    }
    return [{ type: 'RerateApplied', data: { number, prices: [...prices], memo, corrections } }];
  };

/** Notes that the invoice has not taken a credit note. */
export const refuseCorrection =
  (
    number: number,
    { code, message }: { readonly code: string; readonly message: string },
  ): Decision<InvoiceReratingState, InvoiceReratingEvent> =>
  (state) => {
    const own = state?.requests.find((request) => request.number === number);
    const isOpen = own?.corrections.some((each) => !isMore(each)) ?? false;
    return isOpen ? [{ type: 'CorrectionRefused', data: { number, code, message } }] : [];
  };

/** Notes that the documents of a request are made, and how many of its lines they mend. Noted before, no event. */
export const noteDocumented =
  (number: number, asked: number): Decision<InvoiceReratingState, InvoiceReratingEvent> =>
  (state) => {
    const own = state?.requests.find((request) => request.number === number);
    if (!own || own.is_documented) return [];
    const mended = own.corrections.length;
    return [{ type: 'CorrectionsDocumented', data: { number, mended, refused: asked - mended } }];
  };

/** The id by which the work of a request is known where work in the background is listed. */
export const reratingWorkId = (invoiceId: string, number: number): string =>
  derivedId('rerating', `${invoiceId}\n${number}`);

/** The ids of the documents of a request: they follow from it, so that there is one of each. */
export const documentsOf = (invoiceId: string, number: number) => ({
  noteId: derivedId('cn', `${invoiceId}\nrerated ${number}`) as CreditNoteId,
  invoiceId: derivedId('inv', `${invoiceId}\nrerated ${number}`) as InvoiceId,
});
