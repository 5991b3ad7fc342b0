/** The description of the service as a whole in the OpenAPI document. */
export const apiInfo = {
  title: 'Counterfoil',
  version: '1',
  description: 'Event-sourced billing, entitlement and wallet service',
} as const;
