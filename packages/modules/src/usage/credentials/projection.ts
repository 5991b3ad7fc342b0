import { recordProjection } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import { usageCredentialsView } from './schema.ts';
import { usageCredentials } from './usage-credentials.ts';

/** One row per set of credentials. */
export const usageCredentialsTable = recordProjection(usageCredentials, {
  name: 'usage_credentials',
  version: 1,
  view: (state) => usageCredentialsView(existing(state, 'usage credentials')),
  columns: { name: { type: 'text', of: ({ name }) => name } },
});
