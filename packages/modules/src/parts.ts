import { Parts } from '@counterfoil/engine/define';
import type { TargetPolicy } from '@counterfoil/webhooks';
import { taxCalculation } from './invoices/index.ts';
import type { Secrets } from './secrets.ts';
import { httpTaxes } from './tax-provider/index.ts';

/**
 * The parts of a process that carries out commands.
 *
 * @param secrets null in a process that has no secret key: it works out no taxes where somebody else does
 * @param policy where servers of tenants may be
 */
export const partsOf = (secrets: Pick<Secrets, 'sealer'> | null, policy: TargetPolicy): Parts =>
  new Parts().with(taxCalculation, httpTaxes(secrets?.sealer ?? null, policy));
