import { decimal, textOf } from '@counterfoil/kernel';
import type { WalletStatement } from '../wallets/index.ts';
import type { DocumentModel } from './model.ts';
import {
  currencyOf,
  customerFact,
  type DocumentCustomer,
  type DocumentSetting,
  issuerOf,
  proofOf,
  recipientOf,
} from './parties.ts';

/** The document of a wallet's statement. Its rows add up: opening balance, credits in, credits out, closing balance. */
export function statementDocument(
  statement: WalletStatement,
  customer: DocumentCustomer | undefined,
  setting: DocumentSetting,
): DocumentModel {
  const { locale } = setting;
  const { texts, quantity, time, money } = locale;
  const { wallet_id, from, to, known_at, entries } = statement;
  const period = `${time(from)} – ${time(to)}`;
  return {
    language: locale.language,
    fileName: `${wallet_id}-${from.slice(0, 10)}-${to.slice(0, 10)}`,
    heading: texts.statement,
    title: `${texts.statement} ${period}`,
    watermark: null,
    issuer: issuerOf(setting),
    recipientLabel: texts.holder,
    recipient: recipientOf(customer, statement.customer_id, locale),
    facts: [
      { label: texts.wallet, value: statement.wallet_name },
      { label: texts.period, value: period },
      customerFact(customer, statement.customer_id, locale),
      { label: texts.documentId, value: wallet_id },
    ],
    table: {
      caption: texts.entries,
      columns: [
        { label: texts.time, isFigure: false, share: 28 },
        { label: texts.description, isFigure: false, share: 40 },
        { label: texts.change, isFigure: true, share: 16 },
        { label: texts.balance, isFigure: true, share: 16 },
      ],
      rows: entries.map((entry) => ({
        cells: [
          time(entry.effective_at),
          [texts.reasons[entry.transaction_reason], entry.description]
            .filter((text) => text)
            .join(': '),
          quantity(entry.change),
          quantity(entry.credit_balance),
        ],
        notes: [],
      })),
      whenEmpty: texts.noEntries,
    },
    totals: [
      { label: texts.opening, value: quantity(statement.opening_balance), isMain: false },
      { label: texts.in, value: quantity(statement.credits_in), isMain: false },
      { label: texts.out, value: quantity(negative(statement.credits_out)), isMain: false },
      { label: texts.closing, value: quantity(statement.closing_balance), isMain: true },
      {
        label: texts.worth,
        value: money(statement.closing_amount, currencyOf(statement)),
        isMain: false,
      },
    ],
    notes: [texts.zone(locale.zone), texts.known(time(known_at))],
    proof: proofOf(setting, {
      id: wallet_id,
      number: `${from}/${to}`,
      issued: known_at,
      currency: currencyOf(statement),
      total: statement.closing_balance,
    }),
    pageOf: texts.page,
    issuedAt: known_at,
  };
}

const negative = (figure: string): string => textOf(decimal('0').minus(decimal(figure)));
