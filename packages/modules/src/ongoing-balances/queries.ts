import type { AskingContext, RequestContext } from '@counterfoil/engine/define';
import { type CustomerId, notFound, zeroText } from '@counterfoil/kernel';
import type { UsageReadings } from '../invoices/index.ts';
import { ongoingAt, type Wallet, wallet, walletsOf, walletView } from '../wallets/index.ts';
import { nothingOwed, type OngoingBalances, ongoingBalances } from './balances.ts';
import type { RealTimeBalance } from './schema.ts';

/** The wallet as the log has it now, with its real-time balance. Throws 404. */
export async function realTimeBalance(
  context: AskingContext,
  id: string,
  usage: UsageReadings,
): Promise<RealTimeBalance> {
  const state = await context.load(wallet, id);
  if (state === null) throw notFound('wallet', id);
  return shownWith(context, state, await ongoingBalances(context, state, usage, [id]));
}

/** All wallets of a customer with their real-time balances, newest first. */
export async function realTimeBalances(
  context: RequestContext,
  customerId: CustomerId,
  usage: UsageReadings,
): Promise<readonly RealTimeBalance[]> {
  const shown: RealTimeBalance[] = [];
  const known = new Map<string, Promise<OngoingBalances>>();
  for (const { id } of await walletsOf(context, customerId)) {
    const state = await context.load(wallet, id);
    if (state === null) continue;
    const balances = known.get(state.currency) ?? ongoingBalances(context, state, usage, []);
    known.set(state.currency, balances);
    shown.push(shownWith(context, state, await balances));
  }
  return shown;
}

/**
 * A wallet with its part of what is owed. One that is POST_PAID pays when it is asked to, and has what it can spend; one that is not active has
 * nothing to spend.
 */
function shownWith(
  { now }: Pick<AskingContext, 'now'>,
  state: Wallet,
  { wallets, position }: OngoingBalances,
): RealTimeBalance {
  const bearing = wallets.find((each) => each.wallet.id === state.id);
  const { borne, wallet: seen } = bearing ?? { borne: nothingOwed, wallet: state };
  const isActive = seen.wallet_status === 'active';
  const left = isActive ? ongoingAt(seen, borne, now) : { money: zeroText, credits: zeroText };
  return {
    ...walletView(seen),
    real_time_balance: left.money,
    real_time_credit_balance: left.credits,
    balance_updated_at: now,
    current_period_usage: borne.current_period_usage,
    unpaid_invoices_amount: borne.unpaid_invoices_amount,
    ongoing_alert_state: seen.ongoing.alert_state,
    position,
  };
}
