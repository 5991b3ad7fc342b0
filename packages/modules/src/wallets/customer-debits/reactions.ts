import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import { type DecimalText, decimal, textOf, type WalletId, zeroText } from '@counterfoil/kernel';
import { wallet } from '../wallet.ts';
import { customerDebits, type DebitRequest, isWaiting } from './customer-debits.ts';
import { completeDebit, refuseDebit } from './decisions.ts';
import { captureShare, entryIn, giveUpShare, payOrHold, type Share, shareIn } from './shares.ts';

/**
 * A debit that was asked for is carried out: each wallet in turn holds what it has, until one can pay all that
 * is missing. With that payment the debit is done, and what the others hold is captured. When none can, they
 * give it back; of a debit that may be partial it is captured then.
 *
 * Every command has a key that follows from the request, so that whoever carries it out again comes to the same
 * end. While an earlier debit of the customer has none, this one waits.
 */
export const debitsCarriedOut = reaction(customerDebits, {
  name: 'debit of a customer',
  on: {
    DebitRequested: async ({ aggregate_id: id, data: debit }, context) => {
      const debits = await context.load(customerDebits, id);
      if (!isWaiting(debits, debit.debit_id)) return;
      const [first] = debits.waiting;
      if (first?.debit_id !== debit.debit_id) throw new Error(`${first?.debit_id} comes first`);
      const { shares, last } = await takeShares(context, debit);
      const isTaken = last !== null || (debit.allow_partial && shares.length > 0);
      if (isTaken) await complete(context, id, debit, shares, last);
      else await refuse(context, id, debit, shares);
    },
  },
});

type WalletOutcome = Parameters<typeof entryIn>[0];

/** The shares that are held, and the payment of all that they leave; null when no wallet could pay it. */
interface Taken {
  readonly shares: readonly Share[];
  readonly last: { readonly walletId: WalletId; readonly outcome: WalletOutcome } | null;
}

async function takeShares(context: ReactionContext, debit: DebitRequest): Promise<Taken> {
  const shares: Share[] = [];
  let missing = debit.amount;
  for (const walletId of debit.wallets) {
    const outcome = await context.execute(wallet, walletId, payOrHold(walletId, debit, missing));
    const share = shareIn(outcome, walletId, debit);
    if (!share) continue;
    if (share.isLast) return { shares, last: { walletId, outcome } };
    shares.push(share);
    missing = textOf(decimal(missing).minus(decimal(share.amount)));
  }
  return { shares, last: null };
}

async function complete(
  context: ReactionContext,
  id: string,
  debit: DebitRequest,
  shares: readonly Share[],
  last: Taken['last'],
): Promise<void> {
  const captured = await Promise.all(
    shares.map(async ({ walletId }) =>
      entryIn(await context.execute(wallet, walletId, captureShare(walletId, debit)), walletId),
    ),
  );
  const entries = last ? [...captured, entryIn(last.outcome, last.walletId)] : captured;
  const { debit_id } = debit;
  await context.execute(
    customerDebits,
    id,
    completeDebit({ debit_id, ...totals(entries), entries }),
  );
}

async function refuse(
  context: ReactionContext,
  id: string,
  debit: DebitRequest,
  shares: readonly Share[],
): Promise<void> {
  const { debit_id } = debit;
  const holding = shares.map(({ walletId }) => walletId);
  const concerned = new Set([...holding, ...debit.refilling]);
  await Promise.all(
    [...concerned].map((walletId) =>
      context.execute(wallet, walletId, giveUpShare(walletId, debit)),
    ),
  );
  await context.execute(customerDebits, id, refuseDebit({ debit_id, available: totals(shares) }));
}

interface Figures {
  readonly amount: DecimalText;
  readonly credits: DecimalText;
}

/** The sums of shares or entries. */
const totals = (parts: readonly Figures[]): Figures => ({
  amount: sum(parts.map(({ amount }) => amount)),
  credits: sum(parts.map(({ credits }) => credits)),
});

const sum = (figures: readonly DecimalText[]): DecimalText =>
  textOf(figures.reduce((total, figure) => total.plus(decimal(figure)), decimal(zeroText)));
