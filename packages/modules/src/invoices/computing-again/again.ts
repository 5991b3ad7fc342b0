import { type AskingContext, asOf, type ReadStreams } from '@counterfoil/engine/define';
import type { WalletId } from '@counterfoil/kernel';
import type { RulesVersion } from '../../rating/index.ts';
import { chargeTermsOf } from '../../subscriptions/index.ts';
import { UsageAsOf } from '../../usage/index.ts';
import { wallet } from '../../wallets/index.ts';
import {
  type Bill,
  type CreditRules,
  figuresOf,
  type PayingCredits,
  type Taxation,
  withCredits,
} from '../amounts.ts';
import { computedWith } from '../computing.ts';
import type { InvoiceFigures, InvoiceLine } from '../events.ts';
import { billOfGiven } from '../given/bill.ts';
import type { Invoice } from '../invoice.ts';
import { chargeOf } from '../lines/charge-of.ts';
import type { LineOrigin } from '../lines/parts.ts';
import { differencesOf, type FigureDifference } from './differences.ts';
import type { RecordedInvoice } from './recorded.ts';

/** Usage as it counted at a position of the log, whoever tells it. */
export type UsageThen = Pick<UsageAsOf, 'inStretches' | 'events'>;
export type UsageAt = (position: string) => UsageThen;

/** Usage events that one request counts one by one: some seconds. */
const eventsMaximum = 500_000;

/** Usage as its tables have it, for a request. */
export const usageAt: UsageAt = (position) => new UsageAsOf(position, eventsMaximum);

/** The same, however much there is. */
export const allUsageAt: UsageAt = (position) => new UsageAsOf(position);

/** An invoice as it comes out when it is computed again. */
export interface ComputedAgain {
  readonly figures: InvoiceFigures;
  /** The bill that the figures were computed from, without credits. */
  readonly bill: Bill;
  /** The origin of each line, by its id; none for those of an invoice whose lines were given. */
  readonly origins: ReadonlyMap<string, LineOrigin>;
  /** The price types that the credits of each wallet may pay. */
  readonly payable: ReadonlyMap<WalletId, CreditRules['price_types']>;
  readonly differences: readonly FigureDifference[];
}

/** Whence an invoice is computed again. */
export interface Sources {
  readonly usageAt: UsageAt;
  /** Streams that were read before; those that are read now are added. */
  readonly read?: ReadStreams;
  /**
   * True where a wallet is taken for what it was as long as that gives the credits that were recorded. It seldom changes what it
   * may pay, and its stream may be long.
   */
  readonly trustsWallets?: boolean;
  /** Asks in another world than that of then, such as one with other prices: differences are what is wanted there. */
  readonly within?: (then: AskingContext) => AskingContext;
}

/**
 * Computes an invoice again as it was (ADR 49): from the streams up to where its figures were recorded, usage up to its position,
 * by the rules of then, with the taxes, coupons and credits that were recorded with it. Where something comes out otherwise, streams are read up to
 * the position of usage instead: one may have been written to between its reading and the record.
 */
export async function computedAgain(
  context: AskingContext,
  recorded: RecordedInvoice,
  sources: Sources,
): Promise<ComputedAgain> {
  const { computed_position, invoice } = recorded;
  const again = await againAt(context, recorded, computed_position, sources);
  const isExpected = again.differences.length === 0 || sources.within !== undefined;
  if (isExpected || invoice.position === null) return again;
  const earlier = await againAt(context, recorded, invoice.position, sources);
  return earlier.differences.length === 0 ? earlier : again;
}

async function againAt(
  context: AskingContext,
  { invoice, computed_position }: RecordedInvoice,
  position: string,
  { usageAt: at, read, trustsWallets = false, within = (then) => then }: Sources,
): Promise<ComputedAgain> {
  const then = within(asOf(context, position, read));
  const usage = at(invoice.position ?? computed_position);
  const { figures: before, bill, origins } = await figuresAgain(then, invoice, usage);
  const { figures, payable } = await withRecordedCredits(
    { now: context, then },
    invoice,
    before,
    trustsWallets,
  );
  const differences = [
    ...chargesOtherwise(invoice.lines, origins),
    ...differencesOf(figures, invoice),
  ];
  return { figures, bill, origins, payable, differences };
}

async function figuresAgain(
  context: AskingContext,
  invoice: Invoice,
  usage: UsageThen,
): Promise<Pick<ComputedAgain, 'figures' | 'bill' | 'origins'>> {
  const { cause, given } = invoice;
  const taxation: Taxation = {
    taxes: invoice.taxes.map(rateOf),
    exemption: invoice.tax_exemption,
  };
  if (cause.kind === 'settlements') {
    const read = async () => ({
      context,
      moment: {
        position: invoice.position ?? '0',
        usageIn: usage.inStretches,
        rules: rulesOf(invoice),
      },
    });
    const taken = new Set(invoice.coupons.map((each) => each.coupon_association_id));
    return computedWith(context, { ...invoice, cause }, read, {
      taxation: async () => taxation,
      claimed: async ({ id }) => taken.has(id),
      recorded: invoice.lines,
    });
  }
  if (given) {
    const bill = billOfGiven(invoice, given, taxation);
    return { figures: figuresOf(bill), bill, origins: new Map() };
  }
  // Nothing says what it was computed from: its lines are taken as they are, and their sums are computed again.
  const { currency, lines } = invoice;
  const bill = { currency, lines, coupons: [], ...taxation, credits: [] };
  return { figures: withCredits(invoice, []), bill, origins: new Map() };
}

/** The version of the rules that rated its usage; all of an invoice is rated by one. */
export const rulesOf = ({ lines }: Pick<InvoiceFigures, 'lines'>): RulesVersion =>
  lines.find(({ rules }) => rules !== undefined)?.rules ?? 1;

const rateOf = ({
  taxable_amount: _taxable,
  tax_amount: _tax,
  included_amount: _included,
  ...rate
}: InvoiceFigures['taxes'][number]): Taxation['taxes'][number] => rate;

/** Puts the credits on the lines that were held for it: what they may pay is the wallet's word of then. */
async function withRecordedCredits(
  contexts: { readonly now: AskingContext; readonly then: AskingContext },
  invoice: Invoice,
  figures: InvoiceFigures,
  trustsWallets: boolean,
): Promise<Pick<ComputedAgain, 'figures' | 'payable'>> {
  const covers_tax = invoice.plan?.covers_tax ?? false;
  const paidBy = async (context: AskingContext) => {
    const credits: PayingCredits[] = [];
    const payable = new Map<WalletId, CreditRules['price_types']>();
    for (const { wallet_id, amount } of invoice.taken) {
      const price_types = (await context.load(wallet, wallet_id))?.config.allowed_price_types ?? [];
      payable.set(wallet_id, price_types);
      credits.push({ amount, price_types, covers_tax });
    }
    return { figures: withCredits(figures, credits), payable };
  };
  if (!trustsWallets) return paidBy(contexts.then);
  const paid = await paidBy(contexts.now);
  const isSame = paid.figures.lines.every(
    ({ id, credits }) => invoice.lines.find((line) => line.id === id)?.credits === credits,
  );
  return isSame ? paid : paidBy(contexts.then);
}

/** Charges that do not come out as they were settled: of the price that was sold, its quantity, and the time that is charged for. */
const chargesOtherwise = (
  lines: readonly InvoiceLine[],
  origins: ComputedAgain['origins'],
): readonly FigureDifference[] =>
  lines.flatMap((line) => {
    const origin = origins.get(line.id);
    const charge = origin && chargeOf(origin.settled, line);
    if (!charge) return [];
    const terms = chargeTermsOf(origin.settled, charge);
    if (terms.amount === charge.amount) return [];
    const { id: line_id, display_name, amount: found } = line;
    return { line_id, display_name, figure: 'amount', expected: terms.amount, found };
  });
