import { Content, type RequestContext } from '@counterfoil/engine/define';
import { invalidOperation, invariant } from '@counterfoil/kernel';
import { getCreditNote } from '../credit-notes/index.ts';
import { customerRecords } from '../customers/index.ts';
import { getInvoice } from '../invoices/index.ts';
import { defaultTimeZone, ownTenant } from '../tenancy/index.ts';
import type { WalletStatement } from '../wallets/index.ts';
import { creditNoteDocument } from './credit-note-document.ts';
import { htmlOf } from './html.ts';
import { invoiceDocument } from './invoice-document.ts';
import { chosenTag, localeOf } from './locale/locale.ts';
import type { DocumentModel } from './model.ts';
import type { DocumentCustomer, DocumentSetting } from './parties.ts';
import { queueOf } from './pdf/one-at-a-time.ts';
import { pdfOf } from './pdf/render.ts';
import { statementDocument } from './statement-document.ts';

/** The most lines of an invoice that a document shows. */
export const documentLinesMaximum = 5_000;

export const mediaTypes = { pdf: 'application/pdf', html: 'text/html; charset=utf-8' } as const;
export type DocumentFormat = keyof typeof mediaTypes;

/** The tenant, and the language and zone of the customer: `metadata.language` of the customer, else of the tenant. */
async function settingOf(
  context: RequestContext,
  customer: DocumentCustomer | undefined,
  secret: Uint8Array | null,
): Promise<DocumentSetting> {
  invariant(secret, 'this process has no secret key, and makes no documents');
  const tenant = await ownTenant(context);
  const zone = customer?.timezone ?? (await defaultTimeZone(context));
  const tag = chosenTag(customer?.metadata.language, tenant.metadata.language);
  return { tenant, locale: localeOf(tag, zone), secret };
}

/** PDFs that wait in one process, and those of one tenant. */
const makePdf = queueOf({ most: 64, mostOfOne: 8 });

/** A document in a format. */
async function shown(
  { principal }: RequestContext,
  document: DocumentModel,
  format: DocumentFormat,
): Promise<Content> {
  const bytes =
    format === 'pdf'
      ? await makePdf(principal.tenantId, () => pdfOf(document))
      : Buffer.from(htmlOf(document));
  return new Content(mediaTypes[format], bytes, `${document.fileName}.${format}`);
}

/** The document of an invoice. Throws 404, and 400 for one with more lines than anybody reads. */
export async function invoiceContent(
  context: RequestContext,
  id: string,
  format: DocumentFormat,
  secret: Uint8Array | null,
): Promise<Content> {
  const { resource } = await getInvoice(context, id);
  const lines = resource.line_items?.length ?? 0;
  if (lines > documentLinesMaximum) {
    throw invalidOperation(
      `The invoice has ${lines} lines, and a document shows at most ${documentLinesMaximum}. Read them with GET /invoices/${id}.`,
      { reason: 'limit_reached', limit: documentLinesMaximum },
    );
  }
  const setting = await settingOf(context, resource.customer, secret);
  return shown(context, invoiceDocument(resource, setting), format);
}

/** The document of a credit note. Throws 404. */
export async function creditNoteContent(
  context: RequestContext,
  id: string,
  format: DocumentFormat,
  secret: Uint8Array | null,
): Promise<Content> {
  const note = await getCreditNote(context, id);
  const setting = await settingOf(context, note.customer, secret);
  return shown(context, creditNoteDocument(note, setting), format);
}

/** The document of a statement. */
export async function statementContent(
  context: RequestContext,
  statement: WalletStatement,
  format: DocumentFormat,
  secret: Uint8Array | null,
): Promise<Content> {
  const found = await context.read.find(customerRecords.table, statement.customer_id);
  const setting = await settingOf(context, found?.resource, secret);
  return shown(context, statementDocument(statement, found?.resource, setting), format);
}
