/** What the OpenAPI document says about the service as a whole. */
export const apiInfo = {
  title: 'Counterfoil',
  version: '1',
  description: 'Event-sourced billing, entitlement and wallet service',
} as const;
