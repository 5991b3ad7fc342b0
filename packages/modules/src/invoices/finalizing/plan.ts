import type { AskingContext } from '@counterfoil/engine/define';
import type { Instant, WalletId } from '@counterfoil/kernel';
import { type SettingValue, settingOf } from '../../settings/index.ts';
import { activeWallets, inWalletOrder } from '../../wallets/index.ts';
import { payableBy } from '../amounts.ts';
import type { FinalizationPlan, InvoiceFigures } from '../events.ts';
import type { Invoice } from '../invoice.ts';
import { numberPrefix } from '../sequence.ts';

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
  const wallet_type = 'PRE_PAID';
  const wallets = await activeWallets(context, { customer_id, currency, wallet_type });
  return wallets
    .filter(({ config, credit_balance }) => {
      const price_types = config.allowed_price_types;
      return payableBy(lines, { price_types, covers_tax }) !== '0' && credit_balance !== '0';
    })
    .toSorted(inWalletOrder)
    .map(({ id }) => id);
}
