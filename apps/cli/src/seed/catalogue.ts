import type { CatalogDocument } from '@counterfoil/modules';
import {
  directions,
  embeddingsByPackage,
  fixed,
  graduated,
  imagesByVolume,
  meterName,
  models,
  thousandfold,
  usage,
} from './model-prices.ts';

const modelMeters = models.flatMap((model) =>
  directions.map((direction) => ({
    name: meterName(model, direction),
    event_name: 'llm.completion',
    aggregation: { type: 'SUM', field: `${direction}_tokens` },
    filters: [{ key: 'model', values: [model.key] }],
  })),
);

const teamEntitlements = [
  { feature: 'requests-per-minute', static_value: '1000' },
  { feature: 'image-generation' },
  { feature: 'embeddings' },
  { feature: 'fine-tuning' },
  { feature: 'support', static_value: 'Email, one working day' },
];

/** The content of `counterfoil seed`: the catalogue of a reseller of language models. */
export const resellerCatalogue: CatalogDocument = {
  version: 1,
  groups: [
    { name: 'Models', lookup_key: 'models', entity_type: 'feature' },
    { name: 'Token prices', lookup_key: 'token-prices', entity_type: 'price' },
  ],
  meters: [
    ...modelMeters,
    {
      name: 'Embedding tokens',
      event_name: 'llm.embedding',
      aggregation: { type: 'SUM', field: 'tokens' },
    },
    {
      name: 'Images',
      event_name: 'image.generation',
      aggregation: { type: 'SUM', field: 'images' },
    },
  ],
  pricing_units: [
    {
      code: 'credits',
      name: 'Model credits',
      symbol: 'cr',
      base_currency: 'usd',
      conversion_rate: '0.01',
    },
  ],
  features: [
    ...models.flatMap((model) =>
      directions.map((direction) => ({
        name: meterName(model, direction),
        type: 'metered',
        lookup_key: `${model.key}-${direction}`,
        meter: meterName(model, direction),
        group: 'models',
        unit_singular: 'token',
        unit_plural: 'tokens',
        reporting_unit: {
          conversion_rate: '0.000001',
          unit_singular: 'million tokens',
          unit_plural: 'million tokens',
        },
      })),
    ),
    {
      name: 'Embeddings',
      type: 'metered',
      lookup_key: 'embeddings',
      meter: 'Embedding tokens',
      unit_singular: 'token',
      unit_plural: 'tokens',
    },
    {
      name: 'Image generation',
      type: 'metered',
      lookup_key: 'image-generation',
      meter: 'Images',
      unit_singular: 'image',
      unit_plural: 'images',
    },
    { name: 'Fine-tuning', type: 'boolean', lookup_key: 'fine-tuning' },
    { name: 'Requests per minute', type: 'static', lookup_key: 'requests-per-minute' },
    { name: 'Support', type: 'static', lookup_key: 'support' },
  ],
  coupons: [
    {
      name: 'Welcome: 20 % off three months',
      coupon_code: 'WELCOME20',
      type: 'percentage',
      percentage_off: '20',
      cadence: 'repeated',
      duration_in_periods: 3,
    },
    {
      name: 'Conference: 50 dollars once',
      coupon_code: 'CONF50',
      type: 'fixed',
      amount_off: '50',
      currency: 'usd',
      cadence: 'once',
      max_redemptions: 500,
    },
  ],
  tax_rates: [
    { name: 'VAT Germany', code: 'de-vat', percentage_value: '19' },
    { name: 'Sales tax New York', code: 'us-ny-sales', percentage_value: '8.875' },
  ],
  plans: [
    {
      name: 'Free',
      lookup_key: 'free',
      description: 'To try things out: no card, no bill',
      display_order: 1,
      prices: [fixed('free-monthly', '0', 'MONTHLY')],
      entitlements: [
        {
          feature: 'atlas-small-input',
          usage_limit: 1_000_000,
          usage_reset_period: 'MONTHLY',
        },
        {
          feature: 'atlas-small-output',
          usage_limit: 250_000,
          usage_reset_period: 'MONTHLY',
        },
        { feature: 'requests-per-minute', static_value: '10' },
        { feature: 'support', static_value: 'Community' },
      ],
      credit_grants: [
        {
          name: 'Free credits',
          credits: '100',
          cadence: 'RECURRING',
          period: 'MONTHLY',
          expiration_type: 'BILLING_CYCLE',
        },
      ],
    },
    {
      name: 'Pay as you go',
      lookup_key: 'payg',
      description: 'Per token, cheaper beyond a hundred million',
      display_order: 2,
      prices: [...graduated('payg'), embeddingsByPackage('payg', '0.1'), imagesByVolume('payg')],
      entitlements: [
        { feature: 'requests-per-minute', static_value: '300' },
        { feature: 'image-generation' },
        { feature: 'embeddings' },
        { feature: 'support', static_value: 'Email' },
      ],
    },
    {
      name: 'Team',
      lookup_key: 'team',
      description: 'Monthly fee, tokens by the unit, fine-tuning',
      display_order: 3,
      prices: [
        fixed('team-monthly', '99', 'MONTHLY'),
        ...graduated('team'),
        embeddingsByPackage('team', '0.08'),
        imagesByVolume('team'),
      ],
      entitlements: teamEntitlements,
      credit_grants: [
        {
          name: 'Welcome credits',
          credits: '2500',
          cadence: 'ONETIME',
          expiration_type: 'DURATION',
          expiration_duration: 90,
          expiration_duration_unit: 'DAY',
        },
      ],
    },
    {
      name: 'Team, annual',
      lookup_key: 'team-annual',
      description: 'The same for a year, two months free',
      display_order: 4,
      prices: [fixed('team-annual', '990', 'ANNUAL'), ...graduated('team-annual')],
      entitlements: teamEntitlements,
    },
    {
      name: 'Credits',
      lookup_key: 'credits',
      description: 'Everything in model credits, paid in advance',
      display_order: 5,
      prices: models.map((model) => ({
        ...usage,
        billing_model: 'PACKAGE',
        transform_quantity: { divide_by: 1000, round: 'up' },
        price_unit_type: 'CUSTOM',
        price_unit_config: { price_unit: 'credits', amount: thousandfold(model.output) },
        lookup_key: `credits-${model.key}-output`,
        display_name: `${meterName(model, 'output')}, per thousand`,
        meter: meterName(model, 'output'),
        group: 'token-prices',
      })),
      entitlements: [{ feature: 'requests-per-minute', static_value: '300' }],
    },
  ],
  addons: [
    {
      name: 'Priority support',
      lookup_key: 'priority-support',
      prices: [fixed('priority-support-monthly', '250', 'MONTHLY')],
      entitlements: [{ feature: 'support', static_value: 'Phone, one hour' }],
    },
    {
      name: 'Ten thousand images',
      lookup_key: 'image-pack',
      prices: [fixed('image-pack-monthly', '300', 'MONTHLY')],
      entitlements: [
        { feature: 'image-generation', usage_limit: 10_000, usage_reset_period: 'MONTHLY' },
      ],
    },
  ],
  costsheets: [
    {
      name: 'What the models cost us',
      lookup_key: 'model-costs',
      prices: models.flatMap((model) =>
        directions.map((direction) => ({
          ...usage,
          billing_model: 'FLAT_FEE',
          amount: model[`${direction}AtScale`],
          lookup_key: `cost-${model.key}-${direction}`,
          display_name: meterName(model, direction),
          meter: meterName(model, direction),
        })),
      ),
    },
  ],
};

/** Customers with a wallet each, in credits. */
export const resellerCustomers = [
  { external_id: 'globex-research', name: 'Globex Research', currency: 'usd', credits: '50000' },
  { external_id: 'initech-gmbh', name: 'Initech GmbH', currency: 'eur', credits: '12000' },
  { external_id: 'umbrella-studio', name: 'Umbrella Studio', currency: 'usd', credits: '800' },
] as const;
