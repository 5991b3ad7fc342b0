import type { CommandContext, RequestContext } from '@counterfoil/engine/define';
import { currencySchema, invalidField, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { createAssociationSchema, type TaxEntity } from './association-schema.ts';
import { createAssociation, taxAssociation } from './tax-association.ts';
import { taxRateReference } from './tax-rate.ts';

/** Tax rates that one new record brings at most. */
const overridesMaximum = 20;

const { tax_rate_code, priority, auto_apply, metadata } = createAssociationSchema.shape;

/** The tax rates that apply to a new record from its beginning (specification §11.1). */
export const taxRateOverridesSchema = z
  .array(
    z
      .object({ tax_rate_code, currency: currencySchema, priority, auto_apply, metadata })
      .meta({ id: 'TaxRateOverride' }),
  )
  .max(overridesMaximum);
type Overrides = z.output<typeof taxRateOverridesSchema>;

/** An association that a new record brings, as the first event of the record has it. */
export const broughtAssociationData = z.object({
  id: referenceSchema('ta'),
  tax_rate_id: z.string(),
  currency: z.string(),
  priority: z.number().int(),
  auto_apply: z.boolean(),
  metadata: z.record(z.string(), z.string()),
});
export type BroughtAssociation = z.output<typeof broughtAssociationData>;

/**
 * The associations of a new record, under new ids. 404 naming the field for an unknown rate, 400 for one
 * that is not active or that is there twice in a currency.
 */
export async function broughtAssociations(
  context: RequestContext,
  overrides: Overrides,
): Promise<readonly BroughtAssociation[]> {
  const seen = new Set<string>();
  const brought: BroughtAssociation[] = [];
  for (const [index, { tax_rate_code: code, ...rest }] of overrides.entries()) {
    const field = `tax_rate_overrides.${index}.tax_rate_code`;
    const { id: tax_rate_id } = await taxRateReference(context, code, field);
    const place = `${tax_rate_id} ${rest.currency}`;
    if (seen.has(place)) {
      const pointer = `/tax_rate_overrides/${index}/tax_rate_code`;
      throw invalidField(pointer, 'is there twice in this currency');
    }
    seen.add(place);
    brought.push({ id: context.newId('ta'), tax_rate_id, ...rest });
  }
  return brought;
}

/**
 * Creates the associations that a record has brought. One whose rate was archived meanwhile, or which
 * somebody else has made meanwhile, is left out.
 */
export async function carryOutBrought(
  context: CommandContext,
  owner: { readonly entity_type: TaxEntity; readonly entity_id: string },
  brought: readonly BroughtAssociation[],
): Promise<void> {
  for (const association of brought) {
    const create = createAssociation({
      ...association,
      ...owner,
      start_date: null,
      end_date: null,
    });
    try {
      await context.execute(taxAssociation, association.id, create);
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
}

const refusals: readonly Problem['code'][] = ['already_exists', 'invalid_operation', 'not_found'];

const isRefusal = (error: unknown): boolean =>
  error instanceof Problem && refusals.includes(error.code);
