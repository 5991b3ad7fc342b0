import { module } from '@counterfoil/engine/define';
import { creditsOfSettlements } from '../subscriptions/index.ts';
import { latestInvoiceTable } from './at-once/latest.ts';
import { couponsLeft, couponsReturned } from './coupon-returns.ts';
import { couponUse } from './coupons.ts';
import { lowerDebts } from './credits/lower-debts.ts';
import { chargesNoted, leftOverGiven } from './credits/reactions.ts';
import { settlementsDrafted } from './drafting/reactions.ts';
import { editingRoutes } from './editing/routes.ts';
import { explainingRoutes } from './explaining/routes.ts';
import { draftsDue } from './finalizing/due.ts';
import { finalization } from './finalizing/finalization.ts';
import { creditsCaptured } from './finalizing/reactions.ts';
import { firstPayments, unpaidEnds } from './first-payment/reactions.ts';
import { invoice } from './invoice.ts';
import { invoiceRedemptionsSettled } from './one-off/redemptions.ts';
import { oneOffRoutes } from './one-off/routes.ts';
import { overdueInvoices, unpaidSubscriptions } from './overdue/due.ts';
import { previewRoutes } from './preview/routes.ts';
import { invoiceTable } from './projection.ts';
import { invoicePublicEvents } from './public-events.ts';
import { purchasesDrafted } from './purchases/drafting.ts';
import { purchasesEnded } from './purchases/ending.ts';
import { returnedBonuses } from './purchases/returned-bonus.ts';
import { recalculationRoutes } from './recalculation/routes.ts';
import { invoiceRoutes } from './routes.ts';
import { invoiceSequence } from './sequence.ts';
import { invoiceSummaryRoutes } from './summary/routes.ts';
import { thresholdLooks } from './thresholds/look.ts';
import { usageOfTables } from './usage-readings.ts';
import { voidedInvoices } from './voiding/reactions.ts';

export {
  type BilledTax,
  figuresOf,
  includedTaxOf,
  netOf as invoiceNet,
  netsOf,
  payableBy,
  type Taxation,
  taxOf as invoiceLineTax,
} from './amounts.ts';
export type { Collecting } from './at-once/collecting.ts';
export { invoicingWith } from './at-once/invoicing.ts';
export {
  type ComputedAgain,
  computedAgain,
  type UsageAt,
  usageAt,
} from './computing-again/again.ts';
export { recordedInvoice } from './computing-again/recorded.ts';
export { invoicedUnder, isBilled, periodInvoiceId } from './drafting/cause.ts';
export type { InvoiceFigures, InvoiceLine } from './events.ts';
export { draftCorrection } from './given/correction.ts';
export {
  type AppliedNote,
  amountsOf,
  type Invoice,
  type InvoiceState,
  invoice,
  paymentStatusOf,
} from './invoice.ts';
export { chargeOf } from './lines/charge-of.ts';
export { linesOfSettlement } from './lines/settlement-lines.ts';
export { type OwedMoney, owedOn } from './owed.ts';
export { afterwards, comingEvents } from './preview/coming.ts';
export { invoiceTable } from './projection.ts';
export { type ProvenInvoice, proveInvoice } from './proving/prove-invoice.ts';
export { purchasedAtOnce } from './purchases/at-once.ts';
export { getInvoice } from './queries.ts';
export { type InvoiceLineResource, type InvoiceResource, invoiceSchema } from './schema.ts';
export { noteTaxOf, totalOf } from './settling/credited.ts';
export {
  type AskedNote,
  applyNote,
  noteIn,
  noteOn,
  noteOrProblem,
  reverseAdjustment,
} from './settling/notes.ts';
export {
  creditsOn,
  hasRoom,
  notePayment,
  paymentIn,
  paymentsMaximum,
  returnableOf,
  returnPayment,
  settlePayment,
} from './settling/payments.ts';
export {
  type TaxCalculation,
  type TaxContext,
  TaxesUnavailable,
  type TaxQuestion,
} from './tax-calculation.ts';
export { taxesOfOtherLines } from './tax-shares.ts';
export { taxCalculation } from './taxation.ts';
export { exemptionOf, localTaxes } from './taxes.ts';
export {
  type UsageReading,
  type UsageReadings,
  usageOfTables,
} from './usage-readings.ts';
export {
  type PaymentMethod,
  type PaymentStatus,
  paymentMethodSchema,
  paymentStatusSchema,
} from './values.ts';
export { invoiceView } from './view.ts';

const routes = {
  ...invoiceRoutes,
  ...oneOffRoutes,
  ...editingRoutes,
  ...recalculationRoutes,
  ...previewRoutes,
  ...explainingRoutes,
  ...invoiceSummaryRoutes,
};

/** The debts of customers, from the draft to the last payment. */
export const invoices = module({
  name: 'invoices',
  aggregates: [invoice, invoiceSequence, couponUse],
  tables: [invoiceTable, latestInvoiceTable],
  routes,
  publicEvents: [invoicePublicEvents],
  reactions: [
    creditsOfSettlements(lowerDebts),
    settlementsDrafted(usageOfTables),
    finalization,
    creditsCaptured,
    couponsReturned,
    couponsLeft,
    voidedInvoices,
    chargesNoted,
    leftOverGiven,
    firstPayments,
    unpaidEnds,
    purchasesDrafted,
    purchasesEnded,
    returnedBonuses,
  ],
  factWork: [thresholdLooks],
  dueWork: [draftsDue, overdueInvoices, unpaidSubscriptions, invoiceRedemptionsSettled],
});

/** The routes with their exact types, for the typed client. */
export type InvoiceRoutes = typeof routes;
