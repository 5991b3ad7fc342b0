import { z } from 'zod';

/** The record that a payment is for: an invoice, or the account of a customer (E 16). */
export const destinationTypeSchema = z
  .enum(['INVOICE', 'CUSTOMER'])
  .meta({ id: 'PaymentDestinationType' });
export type DestinationType = z.output<typeof destinationTypeSchema>;
