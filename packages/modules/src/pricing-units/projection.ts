import { recordProjection } from '@counterfoil/engine/define';
import { comparedCode, priceUnit, priceUnitView } from './price-unit.ts';

/** One row per pricing unit: what `GET /prices/units/{id}` answers. */
export const priceUnitTable = recordProjection(priceUnit, {
  name: 'price_units',
  version: 1,
  view: priceUnitView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    code: { type: 'text', of: ({ code }) => comparedCode(code), index: true },
    base_currency: { type: 'text', of: ({ base_currency }) => base_currency },
  },
});
