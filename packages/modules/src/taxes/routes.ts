import { expandParameter, newText, type Routes } from '@counterfoil/engine/define';
import { accepted, equalTo, oneOf, recordRoutes } from '../record/index.ts';
import { createTaxRateSchema, taxRateScopeSchema, updateTaxRateSchema } from './rate-schema.ts';
import { archiveTaxRate, createTaxRate, taxRateRecords, updateTaxRate } from './tax-rate.ts';

const rates = recordRoutes(taxRateRecords, { tag: 'Taxes', right: 'tax' });

export const taxRoutes = {
  'POST /taxes/rates': rates.create({
    description: 'A percentage of what is taxed, or a fixed amount. It is active from the start.',
    body: createTaxRateSchema,
    example: { body: { name: newText('VAT'), code: newText('vat'), percentage_value: '19' } },
    decide: createTaxRate,
  }),
  'GET /taxes/rates': rates.list({
    scope: equalTo('scope', taxRateScopeSchema),
    taxrate_ids: oneOf('id', 64),
    taxrate_codes: oneOf('code', 255, { ignoresCase: true }),
    expand: accepted(expandParameter([])),
  }),
  'GET /taxes/rates/{id}': rates.get(),
  'PUT /taxes/rates/{id}': rates.change({
    summary: 'Change the texts of a tax rate, or whether it is active',
    description: 'How much it is never changes: make another rate instead.',
    body: updateTaxRateSchema,
    example: { body: { tax_rate_status: 'INACTIVE' } },
    decide: updateTaxRate,
  }),
  'DELETE /taxes/rates/{id}': rates.end({
    description: 'Refused while it is associated with anything.',
    decide: archiveTaxRate,
  }),
} satisfies Routes;
