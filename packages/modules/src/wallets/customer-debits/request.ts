import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  type CustomerId,
  type DebitId,
  type DecimalText,
  type Decision,
  decimal,
  type Instant,
  invalidOperation,
  refusal,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { customerReference } from '../../customers/index.ts';
import { assertDatable } from '../commands.ts';
import { walletTable } from '../projection.ts';
import { type Wallet, wallet } from '../wallet.ts';
import type { CustomerDebitEvent, CustomerDebits, DebitRequest } from './customer-debits.ts';
import { requestDebit } from './decisions.ts';
import { inWalletOrder } from './order.ts';
import type { DebitCustomer } from './schema.ts';

/** Wallets of one customer and currency that a debit looks at; more are refused. */
const walletsMaximum = 50;

/**
 * The decision of a debit over the wallets of a customer, after these were looked up. Throws 404 for a customer
 * that does not exist, and 400 where no wallet may pay.
 */
export async function debitRequest(
  context: RequestContext,
  customerId: CustomerId,
  debitId: DebitId,
  body: DebitCustomer,
): Promise<Decision<CustomerDebits, CustomerDebitEvent>> {
  const { id } = await customerReference(context, { customer_id: customerId });
  const { currency, effective_at } = body;
  assertDatable(context.now, effective_at);
  const active = (await openWallets(context, id, body)).filter(
    (each) => each.wallet_status === 'active' && existed(each, effective_at),
  );
  return (state, at) => {
    if (active.length === 0) {
      throw refusal(
        `Customer ${id} has no active wallet in ${currency}${sinceThen(effective_at)}.`,
        {
          reason: 'no_active_wallet',
          currency,
          ...(effective_at === undefined ? {} : { effective_at }),
        },
      );
    }
    if (body.allow_partial) assertNobodyOwes(active);
    const amount = amountOf(body, active);
    return requestDebit({
      debit_id: debitId,
      customer_id: id,
      currency,
      amount,
      credits: body.credits ?? null,
      ...(body.allow_partial ? { allow_partial: true } : {}),
      ...(effective_at === undefined ? {} : { effective_at }),
      ...planOf(active, effective_at),
      reason: body.transaction_reason,
      description: body.description ?? null,
      idempotency_key: context.idempotencyKey,
      metadata: body.metadata,
    })(state, at);
  };
}

/** Tells whether a wallet was there at the instant from which a debit counts. */
const existed = ({ created_at }: Wallet, effectiveAt: Instant | undefined): boolean =>
  effectiveAt === undefined || created_at <= effectiveAt;

const sinceThen = (effectiveAt: Instant | undefined): string =>
  effectiveAt === undefined ? '' : ` that was there at ${effectiveAt}`;

/** The customer's wallets of the currency that are not closed, as the log has them, in the order of drawing. */
async function openWallets(
  context: RequestContext,
  customerId: CustomerId,
  { currency }: DebitCustomer,
): Promise<readonly Wallet[]> {
  const page = { limit: walletsMaximum, offset: 0 };
  const { items, pagination } = await context.read.list(walletTable, page, [
    ...where('customer_id', 'eq', customerId),
    ...where('currency', 'eq', currency),
    ...where('wallet_status', 'in', ['active', 'frozen']),
  ]);
  if (pagination.total > walletsMaximum) {
    throw invalidOperation(
      `The customer has ${pagination.total} wallets in ${currency}; a debit draws at most ${walletsMaximum}.`,
      { reason: 'limit_reached', limit: walletsMaximum },
    );
  }
  const states = await Promise.all(items.map(({ id }) => context.load(wallet, id)));
  return states.flatMap((state) => state ?? []).sort(inWalletOrder);
}

/** Refuses what may be partial where a wallet pays whatever the others leave (D26). */
function assertNobodyOwes(wallets: readonly Wallet[]): void {
  const owing = wallets.find(({ wallet_type }) => wallet_type === 'POST_PAID');
  if (!owing) return;
  throw invalidOperation(
    `Wallet ${owing.id} is POST_PAID and pays all that the others leave. Leave allow_partial out.`,
    { reason: 'never_partial' },
  );
}

/** The money to be taken. Credits are worth the same everywhere, or nobody could say which are meant. */
function amountOf({ amount, credits }: DebitCustomer, wallets: readonly Wallet[]): DecimalText {
  if (credits === undefined) return amount as DecimalText;
  const [rate, ...others] = new Set(wallets.map(({ conversion_rate }) => conversion_rate));
  if (rate !== undefined && others.length === 0) {
    return textOf(decimal(credits).times(decimal(rate)));
  }
  throw invalidOperation(
    'The wallets of the customer have different conversion rates. Give amount instead of credits.',
    { reason: 'rates_differ' },
  );
}

/**
 * The wallets that may pay, and those that top themselves up when it is refused. A wallet without a balance
 * has nothing to give, whatever is given back to it until its turn; the log need not say so each time. Credits of
 * now cannot pay what is dated back, so none tops itself up for that.
 */
const planOf = (
  active: readonly Wallet[],
  effectiveAt: Instant | undefined,
): Pick<DebitRequest, 'wallets' | 'refilling'> => {
  const refilling = active.filter(
    ({ auto_topup }) => auto_topup?.enabled && effectiveAt === undefined,
  );
  return {
    wallets: active.filter(mayPay).map(({ id }) => id),
    refilling: refilling.map(({ id }) => id),
  };
};

const mayPay = ({ wallet_type, credit_balance }: Wallet): boolean =>
  wallet_type === 'POST_PAID' || decimal(credit_balance).cmp(zero) > 0;
