import { dueWork, module } from '@counterfoil/engine/define';
import { auditRoutes } from './audit/routes.ts';
import { customerDebits } from './customer-debits/customer-debits.ts';
import { debitsCarriedOut } from './customer-debits/reactions.ts';
import { customerDebitRoutes } from './customer-debits/routes.ts';
import { settleDue } from './decisions.ts';
import { holdRoutes } from './holds/routes.ts';
import { walletListRoutes } from './list-routes.ts';
import { holdTable, transactionTable, walletTable } from './projection.ts';
import { walletPublicEvents } from './public-events.ts';
import { reversalRoutes } from './reversals/routes.ts';
import { type OrderedAtOnce, topUpRoute, walletRoutes } from './routes.ts';
import { automaticBonuses } from './topups/bonus-reactions.ts';
import { topUpRoutes } from './topups/routes.ts';
import { wallet } from './wallet.ts';

export { activeWallets } from './active-wallets.ts';
export {
  statementQuerySchema,
  type WalletStatement,
  walletStatementSchema,
} from './audit/schema.ts';
export { walletStatement } from './audit/statement.ts';
export { inWalletOrder } from './customer-debits/order.ts';
export { createWallet, loadCredits } from './decisions.ts';
export { alertStateSchema, type TransactionReason, type WalletEvent } from './events.ts';
export { expandBalance } from './expansion.ts';
export {
  atItsWorth,
  type CreditGiver,
  type GivenCredits,
  giveCredits,
} from './giving/give-credits.ts';
export { assertReceives } from './giving/receiving.ts';
export {
  captureForInvoice,
  entryOfInvoice,
  giveUpForInvoice,
  heldForInvoice,
  holdForInvoice,
  type InvoiceCredits,
} from './invoice-credits/decisions.ts';
export type { EntryDetails } from './ledger/entries.ts';
export {
  type AlertingFeature,
  type BorneMoney,
  judgeOngoing,
  type OngoingBalance,
  ongoingAt,
  type SeenBalance,
  spendingOf,
} from './ongoing/decisions.ts';
export {
  type CreditsPaid,
  paidIn,
  payWithCredits,
  spendableMoney,
  whyUnpaid,
} from './paying/decisions.ts';
export { transactionTable, walletTable } from './projection.ts';
export { spendableWallet, walletsOf } from './queries.ts';
export { type CreditsBack, giveBack } from './reversals/give-back.ts';
export type { OrderedAtOnce } from './routes.ts';
export type { TransactionResource, WalletResource } from './schema.ts';
export { walletSchema } from './schema.ts';
export { giveBonusBack, type ReturnedPurchase, takeBonusBack } from './topups/bonus-return.ts';
export { endOfOrder, endOrder, invoiceOfOrder, priceOfOrder } from './topups/decisions.ts';
export { walletView } from './view.ts';
export { type Wallet, wallet } from './wallet.ts';

/** Books the lots, holds and orders whose instant has come (D23). */
const expiry = dueWork({
  name: 'wallet expiry',
  table: walletTable,
  column: 'due_at',
  run: (context, id) => context.execute(wallet, id, settleDue(id)),
});

/** Prepaid and postpaid credits of customers, with their ledger, and what is done at once when some are ordered. */
export const walletsWith = (ordered: OrderedAtOnce) =>
  module({
    name: 'wallets',
    aggregates: [wallet, customerDebits],
    tables: [walletTable, transactionTable, holdTable],
    routes: {
      ...walletRoutes,
      'POST /wallets/{id}/top-up': topUpRoute(ordered),
      ...walletListRoutes,
      ...topUpRoutes,
      ...holdRoutes,
      ...reversalRoutes,
      ...auditRoutes,
      ...customerDebitRoutes,
    },
    publicEvents: [walletPublicEvents],
    reactions: [debitsCarriedOut, automaticBonuses],
    dueWork: [expiry],
  });

/** Wallets whose orders nobody invoices at once. */
export const wallets = walletsWith(async () => undefined);

/** The routes with their exact types, for the typed client. */
export type WalletRoutes = typeof walletRoutes &
  typeof walletListRoutes &
  typeof topUpRoutes &
  typeof holdRoutes &
  typeof reversalRoutes &
  typeof auditRoutes &
  typeof customerDebitRoutes;
