/** A model that the demo company resells, with prices in dollars per token. */
interface Model {
  readonly key: string;
  readonly name: string;
  readonly input: string;
  readonly output: string;
  /** Beyond a hundred million tokens in a month. */
  readonly inputAtScale: string;
  readonly outputAtScale: string;
}

/** Prices are decimal texts: exact. */
export const models: readonly Model[] = [
  {
    key: 'atlas-large',
    name: 'Atlas Large',
    input: '0.000003',
    output: '0.000015',
    inputAtScale: '0.0000024',
    outputAtScale: '0.000012',
  },
  {
    key: 'atlas-medium',
    name: 'Atlas Medium',
    input: '0.0000008',
    output: '0.000004',
    inputAtScale: '0.00000064',
    outputAtScale: '0.0000032',
  },
  {
    key: 'atlas-small',
    name: 'Atlas Small',
    input: '0.00000015',
    output: '0.0000006',
    inputAtScale: '0.00000012',
    outputAtScale: '0.00000048',
  },
];

/** The directions in which tokens of a model are counted and priced. */
export const directions = ['input', 'output'] as const;
type Direction = (typeof directions)[number];

/** The name of the meter of a model, which a bill shows. */
export const meterName = ({ name }: Model, direction: Direction): string =>
  `${name} ${direction} tokens`;

/** The fields that all prices by usage share. */
export const usage = {
  type: 'USAGE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ARREAR',
  currency: 'usd',
} as const;

/** Graduated: tokens up to a hundred million at one price, those beyond at a lower one. */
export const graduated = (prefix: string) =>
  models.flatMap((model) =>
    directions.map((direction) => ({
      ...usage,
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 100_000_000, unit_amount: model[direction] },
        { unit_amount: model[`${direction}AtScale`] },
      ],
      lookup_key: `${prefix}-${model.key}-${direction}`,
      display_name: meterName(model, direction),
      meter: meterName(model, direction),
      group: 'token-prices',
    })),
  );

/** Packages of a million tokens; one that is begun counts. */
export const embeddingsByPackage = (prefix: string, amount: string) => ({
  ...usage,
  billing_model: 'PACKAGE',
  transform_quantity: { divide_by: 1_000_000, round: 'up' },
  amount,
  lookup_key: `${prefix}-embeddings`,
  display_name: 'Embeddings, per million tokens',
  meter: 'Embedding tokens',
  group: 'token-prices',
});

/** By volume: all images of a month at the price of the tier that their number reaches. */
export const imagesByVolume = (prefix: string) => ({
  ...usage,
  billing_model: 'TIERED',
  tier_mode: 'VOLUME',
  tiers: [
    { up_to: 1_000, unit_amount: '0.04' },
    { up_to: 10_000, unit_amount: '0.035' },
    { unit_amount: '0.03' },
  ],
  lookup_key: `${prefix}-images`,
  display_name: 'Images',
  meter: 'Images',
});

/** A fee in advance. */
export const fixed = (
  lookup_key: string,
  amount: string,
  billing_period: 'MONTHLY' | 'ANNUAL',
) => ({
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period,
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount,
  lookup_key,
  display_name: 'Base fee',
});

/** Credits per thousand tokens: a credit is a hundredth of a dollar. Moves the point, so it is exact. */
export function thousandfold(perToken: string): string {
  const [whole = '0', fraction = ''] = perToken.split('.');
  const places = 5;
  const padded = fraction.padEnd(places, '0');
  const moved = `${whole}${padded.slice(0, places)}`.replace(/^0+(?=\d)/, '');
  const rest = padded.slice(places);
  return rest === '' ? moved : `${moved}.${rest}`;
}
