import { Parts } from '@counterfoil/engine/define';
import { createAsker, type TargetPolicy } from '@counterfoil/webhooks';
import { taxCalculation } from './invoices/index.ts';
import type { Secrets } from './secrets.ts';
import { taxesByProvider } from './tax-provider/index.ts';

interface PartsOptions {
  /** Null in a process that has no secret key: it works out no taxes where somebody else does. */
  readonly secrets: Pick<Secrets, 'sealer'> | null;
  /** The rules of where servers of tenants may be. */
  readonly policy: TargetPolicy;
  /** The system's time in milliseconds. */
  readonly now: () => number;
}

/** The parts of a process that carries out commands. */
export const partsOf = ({ secrets, policy, now }: PartsOptions): Parts => {
  const asker = createAsker({ policy, seconds: () => Math.floor(now() / 1000) });
  const calculation = taxesByProvider({ sealer: secrets?.sealer ?? null, asker, elapsed: now });
  return new Parts().with(taxCalculation, calculation);
};
