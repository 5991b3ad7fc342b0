import { type AskingContext, type Part, part } from '@counterfoil/engine/define';
import type { Taxation } from './bill.ts';
import type { TaxCalculation, TaxContext, TaxQuestion } from './tax-calculation.ts';
import { localTaxes } from './taxes.ts';

/** The calculation of taxes in a process: by the rates and associations of the environment unless it is given another one. */
export const taxCalculation: Part<TaxCalculation> = part('tax calculation', localTaxes);

/** The taxes of an invoice, by whoever calculates them in this process. Throws `TaxesUnavailable`. */
export const taxationOf = (
  context: TaxContext & Pick<AskingContext, 'part'>,
  question: TaxQuestion,
): Promise<Taxation> => context.part(taxCalculation).taxation(context, question);
