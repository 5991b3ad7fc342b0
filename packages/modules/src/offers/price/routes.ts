import {
  listShape,
  newRecord,
  newText,
  ofTable,
  pageSchema,
  type Routes,
  route,
  searchExample,
} from '@counterfoil/engine/define';
import { existing, invariant, notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { groupReference } from '../../groups/index.ts';
import { messageSchema } from '../../message.ts';
import { priceTermsOf, quoteBodySchema, quoteOf, quoteSchema } from '../../pricing/index.ts';
import { foundById } from '../../record/index.ts';
import { type OfferEvent, type OfferState, offer } from '../offer.ts';
import { ownerOfPrice, priceExpansion } from '../owned.ts';
import { priceTable } from '../projection.ts';
import { recordWith } from '../records.ts';
import { priceView } from '../views.ts';
import { createPrices, endPrice, updatePrice } from './decisions.ts';
import { priceFieldsOf } from './figures.ts';
import { getPrice, getPriceByLookupKey, searchPrices } from './queries.ts';
import { forItem, oneOwner, priceDrafts, priceOwner } from './references.ts';
import {
  createBulkPricesSchema,
  createPriceSchema,
  endPriceSchema,
  type Price,
  priceListSchema,
  priceSchema,
  priceSearchSchema,
  updatePriceSchema,
} from './schema.ts';

const tag = 'Prices';
const idParameters = z.object({ id: referenceSchema('price') });

const priceExample = {
  entity_type: 'PLAN',
  entity_id: newRecord('plan'),
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  price_unit_type: 'FIAT',
  currency: 'usd',
  amount: '12.5',
  lookup_key: newText('pro-monthly'),
  display_name: newText('Monthly fee'),
} as const;

interface Written {
  readonly state: OfferState;
  readonly events: readonly OfferEvent[];
}

/** The prices that a command has made, as its own log has them. */
const madePrices = ({ state, events }: Written): Price[] =>
  events.flatMap((event) =>
    event.type === 'PriceCreated'
      ? [priceView(recordWith(existing(state, 'offer').prices, event.data.id))]
      : [],
  );

function madePrice(written: Written): Price {
  const [made] = madePrices(written);
  invariant(made, 'a command that makes a price has made one');
  return made;
}

export const priceRoutes = {
  'POST /prices': route({
    summary: 'Create a price of a plan, an add-on or a costsheet',
    description:
      'Tiers have ascending whole bounds, inclusive; only the last one may be open. A CUSTOM price is set in a pricing unit and keeps the rate that the unit has now.',
    tag,
    status: 201,
    permission: 'price:write',
    body: createPriceSchema,
    response: priceSchema,
    example: {
      body: priceExample,
      makes: 'price',
      names: { group_id: 'group' },
      texts: ['meter_id'],
    },
    handle: async (context, { body }) => {
      const owner = priceOwner(body);
      const written = await context.execute(offer, owner.entity_id, {
        prepare: async () => createPrices(owner, [await priceDrafts(context)(body, owner)], ['']),
      });
      return madePrice(written);
    },
  }),

  'POST /prices/bulk': route({
    summary: 'Create up to 100 prices',
    description: 'Of one owner, all or none.',
    tag,
    status: 201,
    permission: 'price:write',
    body: createBulkPricesSchema,
    bodyLimitBytes: 1024 * 1024,
    response: z.object({ items: z.array(priceSchema) }).meta({ id: 'CreatedPrices' }),
    example: {
      body: { items: [priceExample] },
      names: { 'items.0.group_id': 'group' },
      texts: ['items.0.meter_id'],
    },
    handle: async (context, { body: { items } }) => {
      const owner = oneOwner(items.map(priceOwner));
      const written = await context.execute(offer, owner.entity_id, {
        prepare: async () => {
          const draft = priceDrafts(context);
          const pointers = items.map((_, index) => `/items/${index}`);
          const drafts = await Promise.all(
            items.map((item, index) => forItem(index, () => draft(item, owner, pointers[index]))),
          );
          return createPrices(owner, drafts, pointers);
        },
      });
      return { items: madePrices(written) };
    },
  }),

  'GET /prices': route({
    summary: 'List prices',
    tag,
    status: 200,
    permission: 'price:read',
    query: ofTable(
      priceTable,
      priceListSchema.extend({ ...listShape, expand: priceExpansion.parameter }),
    ),
    response: pageSchema(priceSchema),
    example: {
      names: {
        price_ids: 'price',
        plan_ids: 'plan',
        entity_ids: 'plan',
        meter_ids: 'meter',
        parent_price_id: 'price',
      },
      texts: ['subscription_id'],
    },
    handle: (context, { query }) => searchPrices(context, query),
  }),

  'POST /prices/search': route({
    summary: 'Search prices',
    tag,
    status: 200,
    permission: 'price:read',
    body: ofTable(
      priceTable,
      priceSearchSchema.extend({ expand: priceExpansion.parameter }).meta({ id: 'PriceSearch' }),
    ),
    bodyOptional: true,
    response: pageSchema(priceSchema),
    example: {
      body: searchExample,
      names: {
        price_ids: 'price',
        plan_ids: 'plan',
        entity_ids: 'plan',
        meter_ids: 'meter',
        parent_price_id: 'price',
      },
      texts: ['subscription_id'],
    },
    handle: (context, { body }) => searchPrices(context, body),
  }),

  'GET /prices/lookup/{lookup_key}': route({
    summary: 'Get the price in force that has a lookup_key',
    tag,
    status: 200,
    permission: 'price:read',
    params: z.object({ lookup_key: z.string().max(255) }),
    response: priceSchema,
    example: { params: { lookup_key: newRecord('price', 'lookup_key') } },
    handle: (context, { params }) => getPriceByLookupKey(context, params.lookup_key),
  }),

  'GET /prices/{id}': route({
    summary: 'Get a price',
    tag,
    status: 200,
    permission: 'price:read',
    params: idParameters,
    response: priceSchema,
    handle: (context, { params: { id } }) => getPrice(context, id),
  }),

  'PUT /prices/{id}': route({
    summary: 'Edit the labels of a price, or set new figures from a date on',
    description:
      'Names, keys, group and metadata change in place. Any figure that differs ends the price at `effective_from` and starts a new one there, which is answered; its `parent_price_id` is the first price of the chain.',
    tag,
    status: 200,
    permission: 'price:write',
    params: idParameters,
    body: updatePriceSchema,
    response: priceSchema,
    example: { body: { amount: '13' }, names: { group_id: 'group' } },
    handle: async (context, { params: { id }, body }) => {
      const owner = await ownerOfPrice(context, id);
      const written = await context.execute(offer, owner, {
        prepare: async () => {
          if (body.group_id) await groupReference(context, body.group_id, 'price');
          return updatePrice(id, body);
        },
      });
      const prices = existing(written.state, 'offer').prices;
      return madePrices(written)[0] ?? priceView(recordWith(prices, id));
    },
  }),

  'DELETE /prices/{id}': route({
    summary: 'End a price, now or later',
    description: 'It stays readable. A price that has ended cannot be ended again.',
    tag,
    status: 200,
    permission: 'price:write',
    params: idParameters,
    body: endPriceSchema,
    bodyOptional: true,
    response: messageSchema,
    example: { body: {} },
    handle: async (context, { params: { id }, body }) => {
      const owner = await ownerOfPrice(context, id);
      const { state } = await context.execute(offer, owner, endPrice(id, body.end_date ?? null));
      const end = recordWith(existing(state, 'offer').prices, id)?.end_date;
      return { message: `The price ${id} ends at ${end}.` };
    },
  }),

  'POST /prices/{id}/quote': route({
    summary: 'Show what a quantity costs at a price',
    description: 'Step by step, and unrounded too.',
    tag,
    status: 200,
    permission: 'price:read',
    params: idParameters,
    body: quoteBodySchema,
    response: quoteSchema,
    example: { body: { quantity: '3' } },
    handle: async (context, { params: { id }, body }) => {
      const { resource } = await foundById(context, priceTable, 'price', id);
      const state = await context.load(offer, resource.entity_id);
      const price = recordWith(state?.prices ?? [], id);
      if (!price) throw notFound('price', id);
      return quoteOf(priceTermsOf(priceFieldsOf(price)), body, price.currency);
    },
  }),
} satisfies Routes;
