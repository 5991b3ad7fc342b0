import { decimal, textOf } from '@counterfoil/kernel';
import type { CreditNoteResource } from '../credit-notes/index.ts';
import type { DocumentModel } from './model.ts';
import {
  currencyOf,
  customerFact,
  type DocumentSetting,
  issuerOf,
  proofOf,
  recipientOf,
  watermarkOf,
} from './parties.ts';

/** The document of a credit note, from its form on the wire. A draft and a void one say so on every page. */
export function creditNoteDocument(
  note: CreditNoteResource,
  setting: DocumentSetting,
): DocumentModel {
  const { locale } = setting;
  const { texts, date, money } = locale;
  const currency = currencyOf(note);
  const issuedAt = note.finalized_at ?? note.created_at;
  const number = note.credit_note_number;
  const ofInvoice = note.invoice?.invoice_number ?? note.invoice_id;
  const net = textOf(decimal(note.total_amount).minus(decimal(note.total_tax)));
  const isAdjustment = note.credit_note_type === 'ADJUSTMENT';
  return {
    language: locale.language,
    fileName: number,
    heading: texts.creditNote,
    title: `${texts.creditNote} ${number}`,
    watermark: watermarkOf(note.credit_note_status, locale),
    issuer: issuerOf(setting),
    recipientLabel: texts.creditTo,
    recipient: recipientOf(note.customer, note.customer_id, locale),
    facts: [
      { label: texts.creditNoteNumber, value: number },
      ...(note.finalized_at ? [{ label: texts.issued, value: date(note.finalized_at) }] : []),
      { label: texts.ofInvoice, value: ofInvoice },
      customerFact(note.customer, note.customer_id, locale),
      { label: texts.documentId, value: note.id },
    ],
    table: {
      caption: texts.lines,
      columns: [
        { label: texts.description, isFigure: false, share: 64 },
        { label: texts.amount, isFigure: true, share: 18 },
        { label: texts.taxes, isFigure: true, share: 18 },
      ],
      rows: note.line_items.map((line) => ({
        cells: [line.display_name, money(line.amount, currency), money(line.tax_amount, currency)],
        notes: [],
      })),
      whenEmpty: texts.noLines,
    },
    totals: [
      { label: texts.subtotal, value: money(net, currency), isMain: false },
      { label: texts.taxes, value: money(note.total_tax, currency), isMain: false },
      { label: texts.credited, value: money(note.total_amount, currency), isMain: true },
    ],
    notes: [
      isAdjustment ? texts.lowersDue(ofInvoice) : texts.givenBack,
      note.memo,
      setting.tenant.metadata.document_footer,
    ].filter((text) => text) as string[],
    proof:
      note.credit_note_status === 'FINALIZED'
        ? proofOf(setting, {
            id: note.id,
            number,
            issued: issuedAt,
            currency,
            total: note.total_amount,
          })
        : null,
    pageOf: texts.page,
    issuedAt,
  };
}
