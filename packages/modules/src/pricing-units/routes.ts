import { newText, type Routes } from '@counterfoil/engine/define';
import { oneOf, recordRoutes } from '../record/index.ts';
import {
  archivePriceUnit,
  changePriceUnit,
  createPriceUnit,
  priceUnitRecords,
} from './price-unit.ts';
import { createPriceUnitSchema, updatePriceUnitSchema } from './schema.ts';

const routes = recordRoutes(priceUnitRecords, { tag: 'Pricing units', right: 'price' });

const filters = { price_unit_ids: oneOf('id', 64) } as const;

export const priceUnitRoutes = {
  'POST /prices/units': routes.create({
    description: 'A currency of your own, such as credits, with a fixed rate to a real one.',
    body: createPriceUnitSchema,
    example: {
      body: {
        name: newText('Credits'),
        code: newText('credits'),
        symbol: 'cr',
        base_currency: 'usd',
        conversion_rate: '0.01',
      },
    },
    decide: createPriceUnit,
  }),
  'GET /prices/units': routes.list(filters),
  'POST /prices/units/search': routes.search('PriceUnitSearch', filters),
  'GET /prices/units/code/{code}': routes.getBy('code'),
  'GET /prices/units/{id}': routes.get(),
  'PUT /prices/units/{id}': routes.change({
    summary: 'Rename a pricing unit or replace its metadata',
    description: 'Code, symbol, base currency and rate never change.',
    body: updatePriceUnitSchema,
    example: { body: { name: newText('Renamed') } },
    decide: changePriceUnit,
  }),
  'DELETE /prices/units/{id}': routes.endWithMessage({
    description: 'Refused while prices use it.',
    decide: archivePriceUnit,
  }),
} satisfies Routes;
