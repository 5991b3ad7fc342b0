import type { TransactionReason } from '../../wallets/index.ts';

export const languages = ['en', 'de', 'fr'] as const;
export type Language = (typeof languages)[number];

/** The words of documents in one language. */
export interface Texts {
  readonly invoice: string;
  readonly statement: string;
  readonly creditNote: string;
  readonly creditNoteNumber: string;
  readonly creditTo: string;
  readonly ofInvoice: string;
  readonly credited: string;
  readonly lowersDue: (number: string) => string;
  readonly givenBack: string;
  readonly draft: string;
  readonly voided: string;
  readonly skipped: string;
  readonly billTo: string;
  readonly holder: string;
  readonly number: string;
  readonly documentId: string;
  readonly issued: string;
  readonly due: string;
  readonly period: string;
  readonly paidOn: string;
  readonly customerNumber: string;
  readonly taxNumber: string;
  readonly notYet: string;
  readonly lines: string;
  readonly description: string;
  readonly quantity: string;
  readonly amount: string;
  readonly noLines: string;
  readonly free: (quantity: string) => string;
  readonly lineDiscount: string;
  readonly subtotal: string;
  readonly discounts: string;
  readonly credits: string;
  readonly taxes: string;
  readonly taxOn: (name: string, rate: string | null, base: string | null) => string;
  readonly taxWithin: (tax: string) => string;
  readonly taxExempt: (number: string, reason: string | null) => string;
  readonly total: string;
  readonly adjustments: string;
  readonly paid: string;
  readonly remaining: string;
  readonly wallet: string;
  readonly entries: string;
  readonly noEntries: string;
  readonly time: string;
  readonly change: string;
  readonly balance: string;
  readonly opening: string;
  readonly in: string;
  readonly out: string;
  readonly closing: string;
  readonly worth: string;
  readonly zone: (zone: string) => string;
  readonly known: (time: string) => string;
  readonly code: string;
  readonly checked: string;
  readonly page: (page: string, pages: string) => string;
  readonly reasons: Readonly<Record<TransactionReason, string>>;
}

const english: Texts = {
  invoice: 'Invoice',
  statement: 'Statement of credits',
  creditNote: 'Credit note',
  creditNoteNumber: 'Credit note number',
  creditTo: 'Credit to',
  ofInvoice: 'For invoice',
  credited: 'Total credited',
  lowersDue: (number) => `This lowers what is due on invoice ${number}.`,
  givenBack: 'This is given back: it was paid already.',
  draft: 'DRAFT',
  voided: 'VOID',
  skipped: 'NOT BILLED',
  billTo: 'Bill to',
  holder: 'Customer',
  number: 'Invoice number',
  documentId: 'Document id',
  issued: 'Date',
  due: 'Due',
  period: 'Period',
  paidOn: 'Paid on',
  customerNumber: 'Customer number',
  taxNumber: 'Tax number',
  notYet: 'none yet',
  lines: 'Lines',
  description: 'Description',
  quantity: 'Quantity',
  amount: 'Amount',
  noLines: 'There are no lines.',
  free: (quantity) => `${quantity} of it included, free of charge`,
  lineDiscount: 'Discount on this line',
  subtotal: 'Subtotal',
  discounts: 'Discounts',
  credits: 'Prepaid credits',
  taxes: 'Taxes',
  taxOn: (name, rate, base) =>
    `${name}${rate === null ? '' : ` ${rate}`}${base === null ? '' : ` on ${base}`}`,
  taxWithin: (tax) => `Included: ${tax}`,
  taxExempt: (number, reason) =>
    `No tax is charged: exempt under number ${number}${reason === null ? '' : ` (${reason})`}.`,
  total: 'Total',
  adjustments: 'Credit notes',
  paid: 'Paid',
  remaining: 'Amount due',
  wallet: 'Wallet',
  entries: 'Entries',
  noEntries: 'There are no entries in this period.',
  time: 'Time',
  change: 'Credits',
  balance: 'Balance',
  opening: 'Opening balance',
  in: 'Credits in',
  out: 'Credits out',
  closing: 'Closing balance',
  worth: 'Closing balance in money',
  zone: (zone) => `All times are those of ${zone}.`,
  known: (time) => `As it was known on ${time}.`,
  code: 'Verification code',
  checked:
    'Whoever issued this document can tell from the code and these facts whether it is genuine:',
  page: (page, pages) => `Page ${page} of ${pages}`,
  reasons: {
    INVOICE_PAYMENT: 'Payment of an invoice',
    FREE_CREDIT_GRANT: 'Free credits',
    SUBSCRIPTION_CREDIT_GRANT: 'Credits of a subscription',
    PURCHASED_CREDIT_INVOICED: 'Purchase by invoice',
    PURCHASED_CREDIT_DIRECT: 'Purchase',
    CREDIT_NOTE: 'Credit note',
    CREDIT_EXPIRED: 'Expired',
    WALLET_TERMINATION: 'Closing of the wallet',
    MANUAL_BALANCE_DEBIT: 'Use',
    CREDIT_ADJUSTMENT: 'Adjustment',
    INVOICE_VOID_REFUND: 'Refund of a void invoice',
  },
};

const german: Texts = {
  invoice: 'Rechnung',
  statement: 'Kontoauszug über Guthaben',
  creditNote: 'Gutschrift',
  creditNoteNumber: 'Gutschriftsnummer',
  creditTo: 'Gutschrift an',
  ofInvoice: 'Zur Rechnung',
  credited: 'Gutgeschriebener Betrag',
  lowersDue: (number) => `Der offene Betrag der Rechnung ${number} verringert sich darum.`,
  givenBack: 'Der Betrag war bezahlt und wird erstattet.',
  draft: 'ENTWURF',
  voided: 'STORNIERT',
  skipped: 'NICHT BERECHNET',
  billTo: 'Rechnung an',
  holder: 'Kunde',
  number: 'Rechnungsnummer',
  documentId: 'Dokument-ID',
  issued: 'Datum',
  due: 'Fällig',
  period: 'Zeitraum',
  paidOn: 'Bezahlt am',
  customerNumber: 'Kundennummer',
  taxNumber: 'Steuernummer',
  notYet: 'noch keine',
  lines: 'Positionen',
  description: 'Beschreibung',
  quantity: 'Menge',
  amount: 'Betrag',
  noLines: 'Es gibt keine Positionen.',
  free: (quantity) => `davon ${quantity} inklusive, ohne Berechnung`,
  lineDiscount: 'Rabatt auf diese Position',
  subtotal: 'Zwischensumme',
  discounts: 'Rabatte',
  credits: 'Vorausbezahltes Guthaben',
  taxes: 'Steuern',
  taxOn: (name, rate, base) =>
    `${name}${rate === null ? '' : ` ${rate}`}${base === null ? '' : ` auf ${base}`}`,
  taxWithin: (tax) => `Enthalten: ${tax}`,
  taxExempt: (number, reason) =>
    `Es wird keine Steuer berechnet: befreit unter Nummer ${number}${reason === null ? '' : ` (${reason})`}.`,
  total: 'Gesamtbetrag',
  adjustments: 'Gutschriften',
  paid: 'Bezahlt',
  remaining: 'Offener Betrag',
  wallet: 'Guthabenkonto',
  entries: 'Buchungen',
  noEntries: 'In diesem Zeitraum gibt es keine Buchungen.',
  time: 'Zeit',
  change: 'Guthaben',
  balance: 'Stand',
  opening: 'Anfangsstand',
  in: 'Zugänge',
  out: 'Abgänge',
  closing: 'Endstand',
  worth: 'Endstand in Geld',
  zone: (zone) => `Alle Zeiten sind die von ${zone}.`,
  known: (time) => `Nach dem Stand vom ${time}.`,
  code: 'Prüfcode',
  checked: 'Der Aussteller kann am Code und an diesen Angaben erkennen, ob das Dokument echt ist:',
  page: (page, pages) => `Seite ${page} von ${pages}`,
  reasons: {
    INVOICE_PAYMENT: 'Bezahlung einer Rechnung',
    FREE_CREDIT_GRANT: 'Kostenloses Guthaben',
    SUBSCRIPTION_CREDIT_GRANT: 'Guthaben eines Abonnements',
    PURCHASED_CREDIT_INVOICED: 'Kauf auf Rechnung',
    PURCHASED_CREDIT_DIRECT: 'Kauf',
    CREDIT_NOTE: 'Gutschrift',
    CREDIT_EXPIRED: 'Verfallen',
    WALLET_TERMINATION: 'Schließung des Kontos',
    MANUAL_BALANCE_DEBIT: 'Verbrauch',
    CREDIT_ADJUSTMENT: 'Korrektur',
    INVOICE_VOID_REFUND: 'Erstattung einer stornierten Rechnung',
  },
};

const french: Texts = {
  invoice: 'Facture',
  statement: 'Relevé de crédits',
  creditNote: 'Avoir',
  creditNoteNumber: 'Numéro d’avoir',
  creditTo: 'Avoir pour',
  ofInvoice: 'Sur la facture',
  credited: 'Total de l’avoir',
  lowersDue: (number) => `Le montant dû de la facture ${number} en est diminué.`,
  givenBack: 'Le montant avait été payé ; il est remboursé.',
  draft: 'BROUILLON',
  voided: 'ANNULÉE',
  skipped: 'NON FACTURÉE',
  billTo: 'Facturé à',
  holder: 'Client',
  number: 'Numéro de facture',
  documentId: 'Identifiant',
  issued: 'Date',
  due: 'Échéance',
  period: 'Période',
  paidOn: 'Payée le',
  customerNumber: 'Numéro de client',
  taxNumber: 'Numéro fiscal',
  notYet: 'pas encore attribué',
  lines: 'Lignes',
  description: 'Description',
  quantity: 'Quantité',
  amount: 'Montant',
  noLines: 'Il n’y a aucune ligne.',
  free: (quantity) => `dont ${quantity} inclus, sans frais`,
  lineDiscount: 'Remise sur cette ligne',
  subtotal: 'Sous-total',
  discounts: 'Remises',
  credits: 'Crédits prépayés',
  taxes: 'Taxes',
  taxOn: (name, rate, base) =>
    `${name}${rate === null ? '' : ` ${rate}`}${base === null ? '' : ` sur ${base}`}`,
  taxWithin: (tax) => `Dont ${tax}`,
  taxExempt: (number, reason) =>
    `Aucune taxe n’est facturée : exonération sous le numéro ${number}${reason === null ? '' : ` (${reason})`}.`,
  total: 'Total',
  adjustments: 'Avoirs',
  paid: 'Payé',
  remaining: 'Montant dû',
  wallet: 'Portefeuille',
  entries: 'Écritures',
  noEntries: 'Il n’y a aucune écriture pour cette période.',
  time: 'Date et heure',
  change: 'Crédits',
  balance: 'Solde',
  opening: 'Solde initial',
  in: 'Entrées',
  out: 'Sorties',
  closing: 'Solde final',
  worth: 'Solde final en monnaie',
  zone: (zone) => `Toutes les heures sont celles de ${zone}.`,
  known: (time) => `Selon les écritures connues le ${time}.`,
  code: 'Code de vérification',
  checked:
    'L’émetteur peut vérifier avec ce code et ces indications que le document est authentique :',
  page: (page, pages) => `Page ${page} sur ${pages}`,
  reasons: {
    INVOICE_PAYMENT: 'Paiement d’une facture',
    FREE_CREDIT_GRANT: 'Crédits offerts',
    SUBSCRIPTION_CREDIT_GRANT: 'Crédits d’un abonnement',
    PURCHASED_CREDIT_INVOICED: 'Achat sur facture',
    PURCHASED_CREDIT_DIRECT: 'Achat',
    CREDIT_NOTE: 'Avoir',
    CREDIT_EXPIRED: 'Expirés',
    WALLET_TERMINATION: 'Clôture du portefeuille',
    MANUAL_BALANCE_DEBIT: 'Utilisation',
    CREDIT_ADJUSTMENT: 'Ajustement',
    INVOICE_VOID_REFUND: 'Remboursement d’une facture annulée',
  },
};

export const textsOf: Readonly<Record<Language, Texts>> = {
  en: english,
  de: german,
  fr: french,
};
