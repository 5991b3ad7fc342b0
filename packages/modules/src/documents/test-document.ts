import { inflateSync } from 'node:zlib';
import type { Instant } from '@counterfoil/kernel';
import type { CreditNoteResource } from '../credit-notes/index.ts';
import type { InvoiceResource } from '../invoices/index.ts';
import { localeOf } from './locale/locale.ts';
import type { DocumentSetting } from './parties.ts';

export const secret = Buffer.alloc(32, 7);

const instant = (text: string): Instant => text as Instant;

type Line = NonNullable<InvoiceResource['line_items']>[number];

/** A line of an invoice, with everything that documents show of it. */
export const line = (changes: Partial<Line> = {}): Line =>
  ({
    display_name: 'API calls',
    quantity: '1200',
    amount: '22',
    adjusted_entitlement_quantity: null,
    line_item_discount: '0',
    period_start: instant('2026-01-01T00:00:00.000Z'),
    period_end: instant('2026-02-01T00:00:00.000Z'),
    ...changes,
  }) as Line;

/** The customer of the documents. */
export const customer = (changes: Partial<NonNullable<InvoiceResource['customer']>> = {}) =>
  ({
    name: 'Ada Lovelace',
    external_id: 'ada',
    email: 'ada@example.com',
    address_line1: '12 St James’s Square',
    address_postal_code: 'SW1Y 4JH',
    address_city: 'London',
    address_country: 'GB',
    timezone: 'UTC',
    metadata: { tax_id: 'GB 123' },
    ...changes,
  }) as NonNullable<InvoiceResource['customer']>;

/** The invoice of February in the worked month of the page on billing, as far as documents show it. */
export const invoiceOf = (changes: Partial<InvoiceResource> = {}): InvoiceResource =>
  ({
    id: 'inv_01KGA0000000000000000000AA',
    invoice_number: 'INV-202602-00002',
    invoice_status: 'FINALIZED',
    currency: 'usd',
    customer_id: 'cust_1',
    created_at: instant('2026-02-01T00:00:00.000Z'),
    finalized_at: instant('2026-02-01T02:00:00.000Z'),
    due_date: instant('2026-02-02T02:00:00.000Z'),
    period_start: instant('2026-01-01T00:00:00.000Z'),
    period_end: instant('2026-02-01T00:00:00.000Z'),
    paid_at: null,
    subtotal: '122',
    total_discount: '12.2',
    total_prepaid_credits_applied: '5',
    total_tax: '10.98',
    total_included_tax: '0',
    total: '115.78',
    adjustment_amount: '0',
    amount_paid: '0',
    amount_remaining: '115.78',
    description: null,
    coupon_applications: [
      { coupon_snapshot: { name: 'Ten percent' }, discounted_amount: '2.2' },
      { coupon_snapshot: { name: 'Ten percent' }, discounted_amount: '10' },
    ],
    taxes: [
      {
        tax_rate: { name: 'VAT', percentage_value: '10' },
        taxable_amount: '109.8',
        tax_amount: '10.98',
        included_amount: '0',
      },
    ],
    tax_exemption: null,
    line_items: [
      line({ adjusted_entitlement_quantity: '100' }),
      line({ display_name: 'Base', quantity: '1', amount: '100' }),
    ],
    customer: customer(),
    ...changes,
  }) as InvoiceResource;

/** The credit note of the worked month: 20 of the base, with its tax. */
export const creditNoteOf = (changes: Partial<CreditNoteResource> = {}): CreditNoteResource =>
  ({
    id: 'cn_01KGA0000000000000000000AA',
    credit_note_number: 'CN-202602-00001',
    credit_note_status: 'FINALIZED',
    credit_note_type: 'REFUND',
    invoice_id: 'inv_01KGA0000000000000000000AA',
    invoice: invoiceOf(),
    customer_id: 'cust_1',
    customer: customer(),
    currency: 'usd',
    created_at: instant('2026-02-03T00:00:00.000Z'),
    finalized_at: instant('2026-02-03T00:00:00.000Z'),
    total_amount: '22',
    total_tax: '2',
    memo: 'Sorry',
    line_items: [{ display_name: 'Base', amount: '20', tax_amount: '2' }],
    ...changes,
  }) as CreditNoteResource;

/** A tenant, a language and a zone. */
export const setting = (tag = 'en', zone = 'UTC', tenant: object = {}): DocumentSetting => ({
  tenant: {
    name: 'Counter & Foil Ltd',
    metadata: {},
    billing_details: { email: 'billing@example.com', address: { address_city: 'York' } },
    ...tenant,
  } as unknown as DocumentSetting['tenant'],
  locale: localeOf(tag, zone),
  secret,
});

/** The objects of a PDF by number: their dictionaries, and their streams where they have one. */
function objectsOf(
  pdf: Uint8Array,
): ReadonlyMap<string, { readonly head: string; readonly text: string }> {
  const source = Buffer.from(pdf).toString('latin1');
  const found = [...source.matchAll(/(\d+) 0 obj\n(.*?)\nendobj/gs)];
  return new Map(
    found.map(([, number = '', body = '']) => {
      const [head = '', stream] = body.split('\nstream\n', 2);
      const bytes = Buffer.from(stream?.replace(/\nendstream$/, '') ?? '', 'latin1');
      const isPacked = stream !== undefined && head.includes('FlateDecode');
      return [number, { head, text: (isPacked ? inflateSync(bytes) : bytes).toString('latin1') }];
    }),
  );
}

const utf16 = (hex: string): string => Buffer.from(hex, 'hex').swap16().toString('utf16le');

/** The characters of the glyphs of a font, from its ToUnicode map. */
function charactersIn(map: string): ReadonlyMap<number, string> {
  const characters = new Map<number, string>();
  for (const [, start = '', , list = ''] of map.matchAll(/<(\w+)> <(\w+)> \[(.*?)\]/gs)) {
    const first = Number.parseInt(start, 16);
    [...list.matchAll(/<([\w ]*)>/g)].forEach(([, hex = ''], index) => {
      characters.set(first + index, utf16(hex.replaceAll(' ', '')));
    });
  }
  return characters;
}

/**
 * The texts of each page of a PDF of this slice, in the order in which they are drawn and each as it stands on paper:
 * words from right to left are read from their left end.
 */
export function pagesOf(pdf: Uint8Array): readonly (readonly string[])[] {
  const objects = objectsOf(pdf);
  const at = (number: string | undefined) => objects.get(number ?? '') ?? { head: '', text: '' };
  const referenceIn = (head: string, name: string) =>
    new RegExp(`/${name} (\\d+) 0 R`).exec(head)?.[1];
  const fonts = new Map<string, ReadonlyMap<number, string>>();
  const contents: string[] = [];
  for (const { head } of objects.values()) {
    for (const [, name = '', number] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      fonts.set(name, charactersIn(at(referenceIn(at(number).head, 'ToUnicode')).text));
    }
    if (/\/Type \/Page\n/.test(head)) contents.push(at(referenceIn(head, 'Contents')).text);
  }
  return contents.map((content) => textsIn(content, fonts));
}

function textsIn(
  content: string,
  fonts: ReadonlyMap<string, ReadonlyMap<number, string>>,
): readonly string[] {
  const texts: string[] = [];
  for (const [, block = ''] of content.matchAll(/BT\n(.*?)ET/gs)) {
    const font = fonts.get(/\/(F\d+) /.exec(block)?.[1] ?? '');
    const glyphs = [...block.matchAll(/<([0-9a-f]+)>/gi)].flatMap(([, hex = '']) =>
      (hex.match(/.{4}/g) ?? []).map((code) => Number.parseInt(code, 16)),
    );
    texts.push(glyphs.map((glyph) => font?.get(glyph) ?? '?').join(''));
  }
  return texts;
}
