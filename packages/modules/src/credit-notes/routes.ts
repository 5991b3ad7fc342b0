import {
  newRecord,
  newText,
  type Outcome,
  ofTable,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { existing, Problem, type ProblemCode, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { carryOutFrom, type Following, firstOf, stateFollowing } from '../following.ts';
import { invoice, noteOn } from '../invoices/index.ts';
import { type CreditNote, type CreditNoteState, creditNote } from './credit-note.ts';
import { askFinalization, createCreditNote, existingNote, voidCreditNote } from './decisions.ts';
import type { CreditNoteEvent } from './events.ts';
import { assertMoneyTaken, newCreditNote } from './prepare.ts';
import { creditNoteTable } from './projection.ts';
import { creditNoteExpansion, getCreditNote, listCreditNotes, shownNote } from './queries.ts';
import { askedOf, creditNotesCarriedOut } from './reactions.ts';
import {
  actOnCreditNoteSchema,
  createCreditNoteSchema,
  creditNoteSchema,
  creditNotesQuerySchema,
} from './schema.ts';
import { creditNoteView } from './view.ts';

const tag = 'Credit notes';
const idParameters = z.object({ id: referenceSchema('cn') });
const expand = creditNoteExpansion.parameter;

/** The events that follow from others of a credit note. */
const following: Following<CreditNoteEvent, CreditNoteState> = ({ type }) => {
  if (type === 'FinalizationAsked') return [['CreditNoteFinalized', 'FinalizationRefused']];
  return type === 'CreditNoteFinalized' ? [['WalletChosen']] : [];
};

/** Carries out at once what follows from a command, and returns the note after that. */
async function carriedOut(
  context: RequestContext,
  id: string,
  outcome: Outcome<CreditNoteState, CreditNoteEvent>,
): Promise<CreditNote> {
  await carryOutFrom(context, creditNote, [creditNotesCarriedOut], id, firstOf(outcome));
  const state = await stateFollowing(context, creditNote, id, outcome, following);
  return existing(state, 'credit note');
}

const shown = (context: RequestContext, note: CreditNote) =>
  shownNote(context, creditNoteView(note));

export const creditNoteRoutes = {
  'GET /creditnotes': route({
    summary: 'List credit notes',
    tag,
    status: 200,
    permission: 'creditnote:read',
    query: ofTable(creditNoteTable, creditNotesQuerySchema.extend({ expand })),
    response: pageSchema(creditNoteSchema),
    example: {
      names: {
        credit_note_ids: 'cn',
        invoice_id: 'inv',
        customer_id: 'cust',
        subscription_id: 'subs',
      },
    },
    handle: (context, { query }) => listCreditNotes(context, query),
  }),

  'POST /creditnotes': route({
    summary: 'Credit a final invoice, or a part of it',
    description:
      'A note on a paid invoice gives back what was paid (REFUND): credits to the lots that paid, money to a wallet of the customer. On one that is owed it lowers what is owed (ADJUSTMENT). Amounts are before tax; the tax of each line goes with them.',
    tag,
    status: 201,
    permission: 'creditnote:write',
    body: createCreditNoteSchema,
    response: creditNoteSchema,
    example: {
      body: {
        invoice_id: newRecord('inv_line', 'invoice_id'),
        line_items: [{ invoice_line_item_id: newRecord('inv_line'), amount: '1' }],
        memo: newText('Agreed by telephone'),
      },
      makes: 'cn',
    },
    handle: async (context, { body }) => {
      const id = context.newId('cn');
      const outcome = await context.execute(creditNote, id, {
        prepare: async () =>
          createCreditNote(await newCreditNote(context, id, body), body.process_credit_note),
      });
      return shown(context, await carriedOut(context, id, outcome));
    },
  }),

  'GET /creditnotes/{id}': route({
    summary: 'Get a credit note',
    tag,
    status: 200,
    permission: 'creditnote:read',
    params: idParameters,
    query: z.object({ expand }),
    response: creditNoteSchema,
    handle: (context, { params: { id }, query }) => getCreditNote(context, id, query.expand),
  }),

  'POST /creditnotes/{id}/finalize': route({
    summary: 'Make a draft of a credit note final',
    description: 'Refused where the invoice has less left by now; it stays a draft then.',
    tag,
    status: 200,
    permission: 'creditnote:write',
    params: idParameters,
    body: actOnCreditNoteSchema,
    bodyOptional: true,
    response: creditNoteSchema,
    example: { params: { id: newRecord('cn_draft') }, body: {} },
    handle: async (context, { params: { id } }) => {
      const outcome = await context.execute(creditNote, id, {
        prepare: async () => {
          const note = existingNote(await context.load(creditNote, id), id);
          const credited = existing(await context.load(invoice, note.invoice_id), 'invoice');
          if (note.credit_note_status === 'DRAFT' && !note.is_finalizing) {
            await assertMoneyTaken(context, credited, noteOn(credited, askedOf(note)));
          }
          return askFinalization(id);
        },
      });
      const note = await carriedOut(context, id, outcome);
      const { refused } = note;
      if (refused)
        throw new Problem(refused.code as ProblemCode, refused.message, {
          details: refused.details ?? {},
        });
      return shown(context, note);
    },
  }),

  'POST /creditnotes/{id}/void': route({
    summary: 'Make a draft or an adjustment void',
    description:
      'What an adjustment lowered is owed again. What was given back is never taken back.',
    tag,
    status: 200,
    permission: 'creditnote:write',
    params: idParameters,
    body: actOnCreditNoteSchema,
    bodyOptional: true,
    response: creditNoteSchema,
    example: { params: { id: newRecord('cn_draft') }, body: {} },
    handle: async (context, { params: { id } }) => {
      const outcome = await context.execute(creditNote, id, voidCreditNote(id));
      return shown(context, await carriedOut(context, id, outcome));
    },
  }),
} satisfies Routes;
