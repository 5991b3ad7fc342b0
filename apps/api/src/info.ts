/** The description of the service as a whole in the OpenAPI document. */
export const apiInfo = {
  title: 'Counterfoil',
  version: '1',
  description: 'Event-sourced billing, entitlement and wallet service',
} as const;

/** The description of the operator API in its own OpenAPI document. */
export const operatorInfo = {
  title: 'Counterfoil, operator API',
  version: '1',
  description: 'Tenants, environments, users and API keys, for those who run the installation',
} as const;
