import { module } from '@counterfoil/engine/define';
import { carryOutFrom } from '../following.ts';
import { type Collecting, invoice } from '../invoices/index.ts';
import { invoicesByHand, ordersByHand } from './by-hand.ts';
import { creditsOfVoid, paymentsCarriedOut } from './carried-out.ts';
import { collection } from './collection/collection.ts';
import { isOfFirstRound } from './collection/plan.ts';
import { collectionTable, retries } from './collection/projection.ts';
import {
  collectedInvoices,
  endsOfPayments,
  restAfterWallets,
  roundsCarriedOut,
} from './collection/reactions.ts';
import { carryOutRound, invoicePaymentRoutes, type Reacting } from './invoice-routes.ts';
import { payment } from './payment.ts';
import { paymentTable, questions } from './projection.ts';
import { providedRoutes } from './provided-routes.ts';
import type { PaymentProvider } from './provider.ts';
import { paymentPublicEvents } from './public-events.ts';
import { reversedPayments } from './reversals.ts';
import { paymentRoutes } from './routes.ts';

export { type Payment, payment } from './payment.ts';
export { paymentTable } from './projection.ts';
export { askAboutPayment } from './provided.ts';
export type {
  MethodSetup,
  NamedAttempt,
  PaymentProvider,
  PreparedAttempt,
  ProviderAccount,
  ProviderAnswer,
  ProviderAttempt,
  ProviderContext,
  ProviderRefund,
  RefundAnswer,
  SavedMethod,
  WantedSetup,
} from './provider.ts';
export { ProviderUnavailable } from './provider.ts';
export { creditsReturned } from './returns.ts';

/** The parts from outside that payments need. */
export interface PaymentsOptions {
  /** The gateway that takes cards; null where an installation has none. */
  readonly provider: PaymentProvider | null;
}

const routesOf = (provider: PaymentProvider | null, { reacting, rounds }: Reacting) => ({
  ...paymentRoutes({ provider, reacting }),
  ...providedRoutes({ provider, reacting }),
  ...invoicePaymentRoutes({ reacting, rounds }),
});

/** Collection of an invoice at once, for whoever has to know whether it is paid. */
export function collectingAtOnce({ provider }: PaymentsOptions): Collecting {
  const reacting = paymentsCarriedOut(provider);
  const rounds = roundsCarriedOut(provider);
  const collected = collectedInvoices(provider);
  return {
    collect: async (context, invoiceId) => {
      await carryOutFrom(context, invoice, [collected], invoiceId, 0);
      await carryOutRound(context, { reacting, rounds }, invoiceId, 0);
    },
    isCollected: isOfFirstRound,
    restOf: restAfterWallets,
  };
}

/** Money that customers pay, and the collection of what they owe. */
export const payments = ({ provider }: PaymentsOptions) => {
  const reacting = paymentsCarriedOut(provider);
  const rounds = roundsCarriedOut(provider);
  const collected = collectedInvoices(provider);
  return module({
    name: 'payments',
    aggregates: [payment, collection],
    tables: [paymentTable, collectionTable],
    routes: routesOf(provider, { reacting, rounds }),
    publicEvents: [paymentPublicEvents],
    reactions: [
      ...[reacting, creditsOfVoid, reversedPayments, ordersByHand, invoicesByHand],
      ...[collected, rounds, endsOfPayments],
    ],
    dueWork: [retries, questions],
  });
};

/** The routes with their exact types, for the typed client. */
export type PaymentRoutes = ReturnType<typeof routesOf>;
