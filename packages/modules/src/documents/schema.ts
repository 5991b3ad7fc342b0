import { flagParameter, unused } from '@counterfoil/engine/define';
import { z } from 'zod';
import { statementQuerySchema } from '../wallets/index.ts';

/** Query of GET /invoices/{id}/pdf. */
export const pdfQuerySchema = z.object({
  url: flagParameter
    .optional()
    .meta({ description: 'True: answer where the document is, in place of the document' }),
  force_generate: unused,
});

/** The address of a document. It is read with a key, like everything else. */
export const documentAddressSchema = z
  .object({
    presigned_url: z
      .string()
      .meta({ description: 'Path of the document below the address of the service' }),
  })
  .meta({ id: 'DocumentAddress' });

/** Query of GET /wallets/{id}/statement. */
export const statementDocumentQuerySchema = statementQuerySchema.extend({
  format: z
    .enum(['json', 'html', 'pdf'])
    .default('json')
    .meta({ description: 'Form of the answer' }),
});
