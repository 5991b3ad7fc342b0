import { reaction, type WorkContext } from '@counterfoil/engine/define';
import {
  decimal,
  existing,
  type Instant,
  type InvoiceId,
  invariant,
  shiftedBy,
  textOf,
  type WalletId,
  zero,
} from '@counterfoil/kernel';
import {
  nextStep,
  type SubscriptionState,
  subscription,
  takeDue,
} from '../../subscriptions/index.ts';
import {
  captureForInvoice,
  giveUpForInvoice,
  heldForInvoice,
  holdForInvoice,
  wallet,
} from '../../wallets/index.ts';
import { type PayingCredits, payableBy, withCredits } from '../amounts.ts';
import { claimFor, computed } from '../computing.ts';
import { computeFinal, finalizeInvoice, postponeFinalization, skipInvoice } from '../decisions.ts';
import type { SettlementsCause } from '../drafting/cause.ts';
import type { InvoiceFigures, TakenCredits } from '../events.ts';
import { figuresOfGiven } from '../given/figures.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { TaxesUnavailable } from '../tax-calculation.ts';
import type { UsageReadings } from '../usage-readings.ts';
import { atOnePosition } from './at-one-position.ts';
import { numbered } from './numbered.ts';
import { planOf } from './plan.ts';

/**
 * An invoice that is to be final is made so (ADR 44): computed at one position of the log; what wallets may pay of it held; its
 * number taken; and then made final with every figure, which is the commit point. Every command has a key that follows from the
 * event, so that whoever does it again, after whatever step, comes to the same end.
 */
export const finalizationCarriedOut = (usage: UsageReadings) =>
  reaction(invoice, {
    name: 'finalization of an invoice',
    on: {
      FinalizationStarted: async ({ aggregate_id, data }, context) => {
        const id = aggregate_id as InvoiceId;
        const outcome = await context.execute(invoice, id, {
          prepare: async () => {
            const draft = existing(await context.load(invoice, id), 'invoice');
            try {
              const figures = await figuresAt(context, draft, usage);
              const plan = await planOf(context, draft, figures, data.at);
              return computeFinal({ ...figures, plan });
            } catch (error) {
              if (!(error instanceof TaxesUnavailable)) throw error;
              return postponeFinalization(error);
            }
          },
        });
        const planned = existing(outcome.state, 'invoice');
        // Without its taxes it is a draft again, and due once more in a while.
        if (!outcome.events.some(({ type }) => type === 'InvoiceComputed')) return;
        await (isNothing(planned)
          ? context.execute(invoice, id, skipInvoice(figuresIn(planned)))
          : finish(context, planned));
      },
    },
  });

/** The figures of an invoice that is made final: computed anew where they follow from settlements, else those that it has. Throws `TaxesUnavailable`. */
async function figuresAt(context: WorkContext, draft: Invoice, usage: UsageReadings) {
  const { cause, given } = draft;
  // It has no figures yet where nobody knew its taxes when it was drafted.
  if (given && draft.last_computed_at === null) return figuresOfGiven(context, draft, given);
  if (cause.kind !== 'settlements') return figuresIn(draft);
  await takeAllDue(context, cause);
  return atOnePosition(context, usage, (read) =>
    computed(context, { ...draft, cause }, read, claimFor(context, draft.id)),
  );
}

/** Commands in which a subscription takes what is due at most: each takes many steps. */
const takingsMaximum = 100;

/**
 * Has the subscription take what is due, so that the opening that belongs to its invoice is there, or never will be; and those that
 * are invoiced with it, whose settlements find no other invoice once this one is final.
 */
async function takeAllDue(
  context: WorkContext,
  { subscription_id, of_period }: SettlementsCause,
): Promise<void> {
  const root = await takenDue(context, subscription_id);
  if (!of_period) return;
  for (const member of root?.family.members ?? []) await takenDue(context, member);
}

/** The subscription after it has taken what is due. */
async function takenDue(context: WorkContext, id: string): Promise<SubscriptionState> {
  let state = await context.load(subscription, id);
  for (let taken = 0; taken < takingsMaximum && isDue(state, context.now); taken += 1) {
    ({ state } = await context.execute(subscription, id, takeDue(id)));
  }
  return state;
}

const isDue = (state: SubscriptionState, now: Instant): boolean => {
  const next = nextStep(state);
  return next !== null && next.at <= now;
};

const figuresIn = ({
  lines,
  coupons,
  taxes,
  tax_exemption,
  subtotal,
  total_discount,
  total_credits,
  total_tax,
  total,
  position,
}: Invoice): InvoiceFigures & { readonly position: string | null } => ({
  lines,
  coupons,
  taxes,
  tax_exemption,
  subtotal,
  total_discount,
  total_credits,
  total_tax,
  total,
  position,
});

/** Tells whether an invoice of a subscription bills nothing (D58). */
const isNothing = ({ cause, lines }: Invoice): boolean =>
  (cause.kind === 'settlements' || cause.kind === 'threshold') &&
  lines.every(({ amount }) => amount === '0');

/** Holds credits, takes the number, and commits. */
async function finish(context: WorkContext, planned: Invoice): Promise<void> {
  const { id } = planned;
  const { figures, taken } = await withHolds(context, planned);
  const state = await numbered(
    context,
    planned,
    (invoice_number) => (current, at) =>
      finalizeInvoice({
        ...figures,
        invoice_number,
        position: planned.position,
        due_date: planned.due_date ?? shiftedBy(at, planned.due_days * dayMilliseconds),
        taken: [...taken],
      })(current, at),
  );
  // Somebody has voided it in between: what is held for it goes back.
  if (state?.invoice_status !== 'FINALIZED') {
    for (const { wallet_id } of taken) {
      await context.execute(wallet, wallet_id, giveUpForInvoice(wallet_id, id));
    }
  }
}

const dayMilliseconds = 86_400_000;

/** Holds what wallets may pay, one after the other: each may pay what those before it have left. */
export async function withHolds(
  context: Pick<WorkContext, 'execute'>,
  { id, plan, ...planned }: Invoice,
) {
  let figures: InvoiceFigures = figuresIn({ id, plan, ...planned });
  const credits: PayingCredits[] = [];
  const taken: TakenCredits[] = [];
  const covers_tax = plan?.covers_tax ?? false;
  for (const wallet_id of plan?.wallets ?? []) {
    const { lines } = figures;
    const outcome = await context.execute(
      wallet,
      wallet_id,
      holdForInvoice(wallet_id, {
        invoice_id: id,
        payable: (price_types) => payableBy(lines, { price_types, covers_tax }),
      }),
    );
    const held = heldForInvoice(outcome.events);
    if (held === null || outcome.state === null) continue;
    const price_types = outcome.state.config.allowed_price_types;
    credits.push({ amount: held.amount, price_types, covers_tax });
    taken.push({ wallet_id, ...held });
    figures = withCredits(figures, credits);
  }
  const held = textOf(taken.reduce((sum, { amount }) => sum.plus(decimal(amount)), zero));
  invariant(held === figures.total_credits, `${id}: what is held is not what is paid`);
  return { figures, taken };
}

/** Credits that an invoice holds are debited when it is final, whatever has become of their wallets. */
export const creditsCaptured = reaction(invoice, {
  name: 'prepaid credits of an invoice',
  on: {
    InvoiceFinalized: async ({ aggregate_id, data }, context) => {
      for (const { wallet_id } of data.taken) {
        await capture(context, wallet_id, aggregate_id as InvoiceId);
      }
    },
  },
});

const capture = (context: WorkContext, walletId: WalletId, invoiceId: InvoiceId) =>
  context.execute(wallet, walletId, captureForInvoice(walletId, invoiceId));
