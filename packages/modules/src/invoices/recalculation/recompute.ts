import type { WorkContext } from '@counterfoil/engine/define';
import { canonicalJson } from '@counterfoil/kernel';
import { type Computed, computed, isFreeFor } from '../computing.ts';
import type { InvoiceDecision } from '../decisions.ts';
import { draftToEdit } from '../editing/decisions.ts';
import { figuresOfGiven } from '../given/figures.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { type UsageReadings, usageOfTables } from '../usage-readings.ts';

/**
 * Computes a draft again, in place: its lines keep their ids. No event where that changes nothing. Throws 404, 400 for an
 * invoice that is no draft, and 503 for one that is being made final.
 */
export async function recompute(
  context: WorkContext,
  id: string,
  usage: UsageReadings = usageOfTables,
): Promise<InvoiceDecision> {
  const draft = draftToEdit(await context.load(invoice, id), id);
  const figures = await figuresOfDraft(context, draft, usage);
  return (state) => {
    const before = draftToEdit(state, id);
    const isSame = (Object.keys(figures) as (keyof Computed)[]).every(
      (name) => canonicalJson(figures[name]) === canonicalJson(before[name]),
    );
    return isSame ? [] : [{ type: 'InvoiceComputed', data: { ...figures, plan: null } }];
  };
}

/** The figures of a draft by now; those of a draft that says nothing of its bill stay as they are. */
async function figuresOfDraft(
  context: WorkContext,
  draft: Invoice,
  usage: UsageReadings,
): Promise<Computed> {
  const { cause, given } = draft;
  if (cause.kind === 'settlements') {
    const read = () => usage.atOnce(context);
    return computed(context, { ...draft, cause }, read, isFreeFor(context, draft.id));
  }
  return given ? figuresOfGiven(context, draft, given) : figuresIn(draft);
}

const figuresIn = (draft: Invoice): Computed => ({
  lines: draft.lines,
  coupons: draft.coupons,
  taxes: draft.taxes,
  tax_exemption: draft.tax_exemption,
  subtotal: draft.subtotal,
  total_discount: draft.total_discount,
  total_credits: draft.total_credits,
  total_tax: draft.total_tax,
  total: draft.total,
  position: draft.position,
});
