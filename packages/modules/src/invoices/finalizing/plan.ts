import { type AskingContext, where } from '@counterfoil/engine/define';
import type { Instant, WalletId } from '@counterfoil/kernel';
import { type SettingValue, settingOf } from '../../settings/index.ts';
import { inWalletOrder, wallet, walletTable } from '../../wallets/index.ts';
import { payableBy } from '../amounts.ts';
import type { FinalizationPlan, InvoiceFigures } from '../events.ts';
import type { Invoice } from '../invoice.ts';
import { numberPrefix } from '../sequence.ts';

/** Wallets of one customer and currency that an invoice looks at; what is in others is left. */
const walletsMaximum = 50;

/** Decides about the rest of a finalisation, before any of it is done (ADR 44). */
export async function planOf(
  context: Pick<AskingContext, 'load' | 'read'>,
  invoice: Invoice,
  figures: InvoiceFigures,
  at: Instant,
): Promise<FinalizationPlan> {
  const form = await settingOf(context, 'invoice_config');
  const covers_tax = form.prepaid_credits_cover_tax;
  return {
    wallets: await payingWallets(context, invoice, figures, covers_tax),
    covers_tax,
    numbering: invoice.given_number === null ? numberingOf(form, at) : null,
  };
}

function numberingOf(form: SettingValue<'invoice_config'>, at: Instant) {
  const { separator, suffix_length, start_sequence } = form;
  return { prefix: numberPrefix(form, at), separator, suffix_length, start_sequence };
}

/** The wallets of who pays whose credits may pay something, in the order in which they are drawn (D21). */
async function payingWallets(
  context: Pick<AskingContext, 'load' | 'read'>,
  { customer_id, currency, cause }: Invoice,
  { lines }: InvoiceFigures,
  covers_tax: boolean,
): Promise<WalletId[]> {
  // Nobody buys credits with credits.
  if (cause.kind === 'purchase') return [];
  if (payableBy(lines, { price_types: ['ALL'], covers_tax }) === '0') return [];
  const usable = [
    ...where('customer_id', 'eq', customer_id),
    ...where('currency', 'eq', currency),
    ...where('wallet_type', 'eq', 'PRE_PAID'),
    ...where('wallet_status', 'eq', 'active'),
  ];
  const ids = await context.read.ids(walletTable, usable, walletsMaximum);
  const states = await Promise.all(ids.map((id) => context.load(wallet, id)));
  return states
    .flatMap((state) => state ?? [])
    .filter(({ config, credit_balance }) => {
      const price_types = config.allowed_price_types;
      return payableBy(lines, { price_types, covers_tax }) !== '0' && credit_balance !== '0';
    })
    .toSorted(inWalletOrder)
    .map(({ id }) => id);
}
