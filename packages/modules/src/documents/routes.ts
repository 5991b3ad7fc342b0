import { contentRoute, type Routes } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { getInvoice } from '../invoices/index.ts';
import { walletStatement, walletStatementSchema } from '../wallets/index.ts';
import { creditNoteContent, invoiceContent, mediaTypes, statementContent } from './queries.ts';
import { documentAddressSchema, pdfQuerySchema, statementDocumentQuerySchema } from './schema.ts';

const tag = 'Documents';
const ofCreditNote = z.object({ id: referenceSchema('cn') });
const ofInvoice = z.object({ id: referenceSchema('inv') });

/** The routes of documents, whose verification codes are made with a secret; null where no document is made. */
export const documentRoutes = (secret: Uint8Array | null) =>
  ({
    'GET /invoices/{id}/pdf': contentRoute({
      operationId: 'getInvoicePdf',
      summary: 'Get an invoice as a PDF',
      description:
        'In the language and the time zone of its customer. It is made from the invoice as it is now: the same invoice gives the same bytes.',
      tag,
      status: 200,
      permission: 'invoice:read',
      params: ofInvoice,
      query: pdfQuerySchema,
      response: documentAddressSchema,
      contents: [mediaTypes.pdf],
      handle: async (context, { params: { id }, query }) => {
        if (!query.url) return invoiceContent(context, id, 'pdf', secret);
        const { resource } = await getInvoice(context, id);
        return { presigned_url: `/v1/invoices/${resource.id}/pdf` };
      },
    }),

    'GET /invoices/{id}/html': contentRoute({
      operationId: 'getInvoiceHtml',
      summary: 'Get an invoice as a page of HTML',
      description:
        'The same document as the PDF, in one file without scripts, which can be printed.',
      tag,
      status: 200,
      permission: 'invoice:read',
      params: ofInvoice,
      contents: [mediaTypes.html],
      handle: (context, { params: { id } }) => invoiceContent(context, id, 'html', secret),
    }),

    'GET /creditnotes/{id}/pdf': contentRoute({
      operationId: 'getCreditNotePdf',
      summary: 'Get a credit note as a PDF',
      description: 'In the language and the time zone of its customer.',
      tag,
      status: 200,
      permission: 'creditnote:read',
      params: ofCreditNote,
      contents: [mediaTypes.pdf],
      handle: (context, { params: { id } }) => creditNoteContent(context, id, 'pdf', secret),
    }),

    'GET /creditnotes/{id}/html': contentRoute({
      operationId: 'getCreditNoteHtml',
      summary: 'Get a credit note as a page of HTML',
      description: 'The same document as the PDF, in one file without scripts.',
      tag,
      status: 200,
      permission: 'creditnote:read',
      params: ofCreditNote,
      contents: [mediaTypes.html],
      handle: (context, { params: { id } }) => creditNoteContent(context, id, 'html', secret),
    }),

    'GET /wallets/{id}/statement': contentRoute({
      operationId: 'getWalletStatement',
      summary: 'Get a statement of a wallet',
      description:
        'Opening balance, the entries that count after `from` and by `to`, closing balance: they add up, to the last digit. As JSON, HTML or PDF.',
      tag,
      status: 200,
      permission: 'wallet:read',
      params: z.object({ id: referenceSchema('wallet') }),
      query: statementDocumentQuerySchema,
      response: walletStatementSchema,
      contents: [mediaTypes.html, mediaTypes.pdf],
      handle: async (context, { params: { id }, query: { format, ...period } }) => {
        const statement = await walletStatement(context, id, period);
        return format === 'json' ? statement : statementContent(context, statement, format, secret);
      },
    }),
  }) satisfies Routes;
