import { module } from '@counterfoil/engine/define';
import { couponsReturned } from './coupon-returns.ts';
import { couponUse } from './coupons.ts';
import { settlementsDrafted } from './drafting/reactions.ts';
import { draftsDue } from './finalizing/due.ts';
import { creditsCaptured, finalizationCarriedOut } from './finalizing/reactions.ts';
import { invoice } from './invoice.ts';
import { invoiceTable } from './projection.ts';
import { invoicePublicEvents } from './public-events.ts';
import { invoiceRoutes } from './routes.ts';
import { invoiceSequence } from './sequence.ts';
import { usageOfTables } from './usage-readings.ts';

export {
  type AppliedNote,
  amountsOf,
  type Invoice,
  type InvoiceState,
  invoice,
  paymentStatusOf,
} from './invoice.ts';
export { invoiceTable } from './projection.ts';
export { type InvoiceResource, invoiceSchema } from './schema.ts';
export {
  type AskedNote,
  applyNote,
  type NoteKind,
  netOf,
  noteIn,
  noteKindOf,
  noteOn,
  noteOrProblem,
  reverseAdjustment,
  totalOf,
} from './settling/notes.ts';
export {
  leftOf,
  moneyOn,
  notePayment,
  paymentIn,
  returnPayment,
  settlePayment,
} from './settling/payments.ts';
export {
  type PaymentMethod,
  type PaymentStatus,
  paymentMethodSchema,
  paymentStatusSchema,
} from './values.ts';
export { invoiceView } from './view.ts';

const routes = { ...invoiceRoutes };

/** What customers owe, from the draft to the last payment. */
export const invoices = module({
  name: 'invoices',
  aggregates: [invoice, invoiceSequence, couponUse],
  tables: [invoiceTable],
  routes,
  publicEvents: [invoicePublicEvents],
  reactions: [
    settlementsDrafted(usageOfTables),
    finalizationCarriedOut(usageOfTables),
    creditsCaptured,
    couponsReturned,
  ],
  dueWork: [draftsDue],
});

/** The routes with their exact types, for the typed client. */
export type InvoiceRoutes = typeof routes;
