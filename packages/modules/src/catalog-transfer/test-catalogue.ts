/** A catalogue in which everything stands that a document may hold. */
export const catalogue = {
  version: 1,
  groups: [
    { name: 'Models', lookup_key: 'models', entity_type: 'feature' },
    { name: 'Usage', lookup_key: 'usage', entity_type: 'price' },
  ],
  meters: [
    {
      name: 'Tokens',
      event_name: 'completion',
      aggregation: { type: 'SUM', field: 'tokens' },
      filters: [{ key: 'model', values: ['large'] }],
    },
    { name: 'Tokens', event_name: 'embedding', aggregation: { type: 'SUM', field: 'tokens' } },
  ],
  pricing_units: [
    { code: 'crd', name: 'Credits', symbol: 'c', base_currency: 'usd', conversion_rate: '0.01' },
  ],
  features: [
    {
      name: 'Large model',
      type: 'metered',
      lookup_key: 'large',
      meter: 'Tokens',
      group: 'models',
      unit_singular: 'token',
      unit_plural: 'tokens',
      reporting_unit: { conversion_rate: 0.001, unit_singular: 'k', unit_plural: 'k' },
      alert_settings: { critical: { threshold: 1 } },
    },
    { name: 'Embeddings', type: 'metered', meter: 'Tokens #2' },
    { name: 'Support', type: 'static', lookup_key: 'support' },
  ],
  coupons: [
    {
      name: 'Hello',
      coupon_code: 'HELLO',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'once',
    },
    { name: 'Loyal', type: 'fixed', amount_off: '5', currency: 'usd', cadence: 'forever' },
  ],
  tax_rates: [
    { name: 'VAT', code: 'vat', percentage_value: '19' },
    { name: 'Old', code: 'old', fixed_value: '1', tax_rate_status: 'INACTIVE' },
  ],
  plans: [
    {
      name: 'Pro',
      lookup_key: 'pro',
      description: 'For teams',
      metadata: { tier: '2' },
      prices: [
        {
          type: 'FIXED',
          billing_model: 'FLAT_FEE',
          billing_period: 'MONTHLY',
          invoice_cadence: 'ADVANCE',
          currency: 'usd',
          amount: '20',
          lookup_key: 'pro-monthly',
        },
        {
          type: 'USAGE',
          billing_model: 'TIERED',
          tier_mode: 'SLAB',
          billing_period: 'MONTHLY',
          invoice_cadence: 'ARREAR',
          currency: 'usd',
          tiers: [{ up_to: 1000, unit_amount: '0.002' }, { unit_amount: '0.001' }],
          meter: 'Tokens',
          group: 'usage',
        },
        {
          type: 'USAGE',
          billing_model: 'FLAT_FEE',
          billing_period: 'MONTHLY',
          invoice_cadence: 'ARREAR',
          currency: 'usd',
          price_unit_type: 'CUSTOM',
          price_unit_config: { price_unit: 'crd', amount: '0.5' },
          meter: 'Tokens #2',
          display_name: 'Embeddings',
        },
      ],
      entitlements: [
        { feature: 'large', usage_limit: 1000000, is_soft_limit: true },
        { feature: 'support', static_value: 'Email' },
      ],
      credit_grants: [{ name: 'Welcome', credits: '100', cadence: 'ONETIME' }],
    },
    { name: 'Free' },
  ],
  addons: [
    {
      name: 'More',
      lookup_key: 'more',
      entitlements: [{ feature: 'large', usage_limit: 5 }],
      credit_grants: [{ name: 'Monthly', credits: '10', cadence: 'RECURRING', period: 'MONTHLY' }],
    },
  ],
  costsheets: [
    {
      name: 'Costs',
      prices: [
        {
          type: 'USAGE',
          billing_model: 'PACKAGE',
          transform_quantity: { divide_by: 1000 },
          billing_period: 'MONTHLY',
          invoice_cadence: 'ARREAR',
          currency: 'usd',
          amount: '0.5',
          meter: 'Tokens',
        },
      ],
    },
  ],
};
