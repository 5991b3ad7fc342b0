import { recordProjection } from '@counterfoil/engine/define';
import { apiKey, apiKeyView } from './api-key.ts';
import { environment, environmentView } from './environment.ts';
import { tenant, tenantView } from './tenant.ts';
import { user, userView } from './user.ts';

/** One row per tenant: what `GET /tenants/{id}` answers. */
export const tenantTable = recordProjection(tenant, {
  name: 'tenants',
  version: 1,
  view: tenantView,
});

/** One row per environment. */
export const environmentTable = recordProjection(environment, {
  name: 'environments',
  version: 1,
  view: environmentView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    type: { type: 'text', of: ({ type }) => type },
  },
});

/** One row per user, without the tenant that the API shows with it. */
export const userTable = recordProjection(user, {
  name: 'users',
  version: 1,
  view: userView,
  columns: {
    email: { type: 'text', of: ({ email }) => email, index: true },
    name: { type: 'text', of: ({ name }) => name },
    type: { type: 'text', of: ({ type }) => type },
    roles: { type: 'text[]', of: ({ roles }) => roles },
  },
});

/** One row per API key, masked. */
export const apiKeyTable = recordProjection(apiKey, {
  name: 'api_keys',
  version: 1,
  view: apiKeyView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    user_id: { type: 'text', of: ({ user_id }) => user_id, index: true },
  },
});
