import { createHash } from 'node:crypto';
import type { Place } from '@counterfoil/engine/define';
import { existing, textOf, zero } from '@counterfoil/kernel';
import type { CustomerRecord } from '../customers/index.ts';
import { netsOf, type TaxQuestion } from '../invoices/index.ts';

/** A line of an invoice that comes to something, as the provider is told of it. */
export type AskedLine = ReturnType<typeof askedLines>[number];

/** The lines of a bill that come to something after discounts: the others have no taxes. */
export function askedLines({ bill }: Pick<TaxQuestion, 'bill'>) {
  const nets = netsOf(bill);
  return bill.lines.flatMap((line, index) => {
    const net = existing(nets[index] ?? null, 'line');
    if (net.cmp(zero) === 0) return [];
    return [
      {
        id: line.id,
        display_name: line.display_name,
        kind: line.kind,
        price_type: line.price_type,
        price_id: line.price_id,
        entity_type: line.entity_type,
        entity_id: line.entity_id,
        quantity: line.quantity,
        amount: textOf(net),
        tax_behavior: line.tax_behavior ?? ('exclusive' as const),
        period_start: line.period_start,
        period_end: line.period_end,
        metadata: line.metadata,
      },
    ];
  });
}

/** The body of a question, the same for the same question. */
export function bodyOf(
  { tenantId, environmentId }: Place,
  { invoice, bill, purpose }: TaxQuestion,
  lines: readonly AskedLine[],
  state: CustomerRecord | null,
): Uint8Array {
  const customer = existing(state, 'customer');
  const asked = {
    type: 'tax.calculation',
    version: 1,
    purpose,
    tenant_id: tenantId,
    environment_id: environmentId,
    invoice_id: invoice.id,
    subscription_id: invoice.subscription_id,
    currency: bill.currency,
    tax_date: invoice.at,
    customer: {
      id: customer.id,
      external_id: customer.external_id,
      name: customer.name,
      email: customer.email,
      address_line1: customer.address_line1,
      address_line2: customer.address_line2,
      address_city: customer.address_city,
      address_state: customer.address_state,
      address_postal_code: customer.address_postal_code,
      address_country: customer.address_country,
      metadata: customer.metadata,
    },
    lines,
  };
  return Buffer.from(JSON.stringify(asked));
}

const idCharacters = 32;

/** The id of a question: another one as soon as anything in it is otherwise. */
export const questionId = (body: Uint8Array): string =>
  `taxq_${createHash('sha256').update(body).digest('hex').slice(0, idCharacters)}`;
