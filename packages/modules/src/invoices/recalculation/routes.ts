import { flagParameter, newRecord, type Routes, route } from '@counterfoil/engine/define';
import { type InvoiceId, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { stateFollowing } from '../../following.ts';
import { startFinalization } from '../decisions.ts';
import { invoiceActSchema } from '../editing/schema.ts';
import { finalization, followsFinalization } from '../finalizing/finalization.ts';
import { invoice } from '../invoice.ts';
import { shownInvoice } from '../queries.ts';
import { invoiceSchema } from '../schema.ts';
import { recompute } from './recompute.ts';
import { replaceVoided } from './replace.ts';

const tag = 'Invoices';
const params = z.object({ id: referenceSchema('inv') });

const recalculationSchema = z
  .object({
    message: z.string(),
    workflow_id: z.string(),
    run_id: z.string(),
    invoice_id: z.string().meta({ description: 'Id of the invoice that bills it again' }),
  })
  .meta({ id: 'InvoiceRecalculation' });

export const recalculationRoutes = {
  'POST /invoices/{id}/recalculate': route({
    summary: 'Bill again what a void invoice of a subscription has billed',
    description: 'The new invoice is made final as soon as its figures are known.',
    tag,
    status: 202,
    permission: 'invoice:write',
    params,
    response: recalculationSchema,
    example: { params: { id: newRecord('inv_void') as InvoiceId } },
    handle: async (context, { params: { id } }) => {
      const { by: invoice_id, outcome } = await replaceVoided(context, id);
      await context.carryOut(finalization, invoice_id, outcome);
      return {
        message: `Invoice ${invoice_id} bills again what ${id} has billed.`,
        workflow_id: invoice_id,
        run_id: invoice_id,
        invoice_id,
      };
    },
  }),

  'POST /invoices/{id}/recalculate-v2': route({
    operationId: 'recalculateInvoiceInPlace',
    summary: 'Compute a draft again, in place',
    description: 'Its lines keep their ids. With `finalize` it is made final as well.',
    tag,
    status: 200,
    permission: 'invoice:write',
    params,
    query: z.object({ finalize: flagParameter.optional() }),
    response: invoiceSchema,
    example: { params: { id: newRecord('inv_draft') as InvoiceId } },
    handle: async (context, { params: { id }, query }) => {
      // One command: a key makes one of each stream.
      const outcome = await context.execute(invoice, id, {
        prepare: async () => {
          const again = await recompute(context, id);
          if (!query.finalize) return again;
          return (state, at) => [...again(state, at), ...startFinalization(id)(state, at)];
        },
      });
      await context.carryOut(finalization, id, outcome);
      const state = await stateFollowing(context, invoice, id, outcome, followsFinalization);
      return shownInvoice(context, state);
    },
  }),

  'POST /invoices/{id}/finalize': route({
    summary: 'Make a draft final now',
    description:
      'Its number, figures and due date stand from then on. One that is final already stays as it is.',
    tag,
    status: 200,
    permission: 'invoice:write',
    params,
    response: invoiceActSchema,
    example: { params: { id: newRecord('inv_draft') as InvoiceId } },
    handle: async (context, { params: { id } }) => {
      const started = await context.execute(invoice, id, startFinalization(id));
      await context.carryOut(finalization, id, started);
      const state = await stateFollowing(context, invoice, id, started, followsFinalization);
      const shown = await shownInvoice(context, state);
      return { message: messageOf(shown), invoice: shown };
    },
  }),
} satisfies Routes;

const messageOf = ({
  id,
  invoice_number,
  invoice_status,
  tax_failure,
}: z.output<typeof invoiceSchema>) => {
  if (invoice_status === 'FINALIZED') return `Invoice ${invoice_number} is final.`;
  if (invoice_status === 'SKIPPED') return `Invoice ${id} has nothing to bill and is skipped.`;
  if (tax_failure)
    return `Invoice ${id} stays a draft until its taxes are known: ${tax_failure.message}`;
  return `Invoice ${id} is being made final.`;
};
