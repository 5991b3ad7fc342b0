import type { Currency } from '@counterfoil/kernel';
import type { InvoiceResource } from '../invoices/index.ts';
import type { TenantResource } from '../tenancy/index.ts';
import type { Locale } from './locale/locale.ts';
import type { Fact, Party, Proof } from './model.ts';
import { canonicalFacts, type ProvenFacts, verificationCode } from './verification.ts';

/** A customer as answers show it. */
export type DocumentCustomer = NonNullable<InvoiceResource['customer']>;

/** Everything but the record that a document shows. */
export interface DocumentSetting {
  readonly tenant: TenantResource;
  readonly locale: Locale;
  /** The secret that verification codes are made with. */
  readonly secret: Uint8Array;
}

type Address = TenantResource['billing_details']['address'];

const present = (...texts: readonly (string | undefined)[]): string[] =>
  texts.filter((text) => text !== undefined && text.trim() !== '') as string[];

/** An address, each part on the line where most countries have it. */
export function addressLines(address: Address, language: string): readonly string[] {
  const { address_line1, address_line2, address_city, address_state } = address;
  const { address_postal_code, address_country } = address;
  const town = present(address_postal_code, address_city).join(' ');
  const country = address_country && new Intl.DisplayNames([language], { type: 'region' });
  return present(
    address_line1,
    address_line2,
    present(town, address_state).join(', '),
    country ? country.of(address_country ?? '') : undefined,
  );
}

const taxLine = (metadata: Readonly<Record<string, string>>, { texts }: Locale): string[] =>
  present(metadata.tax_id).map((number) => `${texts.taxNumber}: ${number}`);

/** The one who issues a document: the tenant with its address and how to reach it. */
export function issuerOf({ tenant, locale }: DocumentSetting): Party {
  const { address, email, help_email, phone } = tenant.billing_details;
  return {
    name: tenant.name,
    lines: [
      ...addressLines(address, locale.language),
      ...present(help_email ?? email, phone),
      ...taxLine(tenant.metadata, locale),
    ],
  };
}

/** The one whom a document is for; by its id alone where nothing else is known. */
export function recipientOf(
  customer: DocumentCustomer | undefined,
  id: string,
  locale: Locale,
): Party {
  if (!customer) return { name: id, lines: [] };
  return {
    name: customer.name,
    lines: [
      ...addressLines(customer, locale.language),
      ...present(customer.email),
      ...taxLine(customer.metadata, locale),
    ],
  };
}

/** The number by which the tenant knows the customer. */
export const customerFact = (
  customer: DocumentCustomer | undefined,
  id: string,
  { texts }: Locale,
): Fact => ({ label: texts.customerNumber, value: customer?.external_id ?? id });

/** The proof of a document, with its facts as the check wants them. */
export function proofOf({ locale, secret }: DocumentSetting, given: ProvenFacts): Proof {
  const { id, number, issued, currency, total } = canonicalFacts(given);
  return {
    label: locale.texts.code,
    code: verificationCode(secret, given),
    facts: `id=${id}  number=${number}  issued=${issued}  currency=${currency}  total=${total}`,
    explanation: locale.texts.checked,
  };
}

/** The currency of a record on the wire, which was checked when it came in. */
export const currencyOf = ({ currency }: { readonly currency: string }): Currency =>
  currency as Currency;

/** The word across every page of a document that is not valid, or not yet; null for one that is. */
export function watermarkOf(
  status: InvoiceResource['invoice_status'],
  { texts }: Locale,
): string | null {
  switch (status) {
    case 'DRAFT':
      return texts.draft;
    case 'VOIDED':
      return texts.voided;
    case 'SKIPPED':
      return texts.skipped;
    case 'FINALIZED':
      return null;
    default:
      return status satisfies never;
  }
}
