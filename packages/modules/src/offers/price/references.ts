import type { RequestContext } from '@counterfoil/engine/define';
import { invalidField, notFound, Problem } from '@counterfoil/kernel';
import { groupReference } from '../../groups/index.ts';
import { meterReference } from '../../meters/index.ts';
import { priceUnitReference } from '../../pricing-units/index.ts';
import { settingOf } from '../../settings/index.ts';
import type { Owner } from '../owner.ts';
import { type PriceDraft, priceDraft } from './decisions.ts';
import type { UnitSnapshot } from './figures.ts';
import type { CreatePrice } from './schema.ts';

/**
 * The offer that a request names as owner. A subscription gets prices of its own with its lines, so none is found here:
 * 404 naming entity_id.
 */
export function priceOwner({ entity_type, entity_id }: CreatePrice): Owner {
  if (entity_type === 'SUBSCRIPTION') throw notFound('subscription', entity_id, 'entity_id');
  return { entity_type, entity_id };
}

/**
 * The one owner that all items of a request belong to.
 *
 * @throws a Problem that points at the item that belongs to another one
 */
export function oneOwner<Named extends { readonly entity_id: string }>(
  owners: readonly Named[],
): Named {
  const [first, ...rest] = owners;
  if (!first) throw invalidField('/items', 'must have at least one item');
  const other = rest.findIndex((owner) => owner.entity_id !== first.entity_id);
  if (other < 0) return first;
  const index = other + 1;
  throw new Problem('validation_error', `items/${index}: all items must be of one owner`, {
    details: { index },
    errors: [{ pointer: `/items/${index}/entity_id`, message: 'is not that of the first item' }],
  });
}

/** Does something for an item of many; a problem then says which item it is about. */
export async function forItem<Value>(index: number, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw ofItem(index, error);
  }
}

/** The same for what is decided at once. */
export function forItemNow<Value>(index: number, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw ofItem(index, error);
  }
}

function ofItem(index: number, error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const { code, message, details, errors } = error;
  return new Problem(code, `items/${index}: ${message}`, {
    details: { ...details, index },
    ...(errors ? { errors } : {}),
  });
}

/** Looks a value up once for each name. */
export function once<Value>(
  find: (name: string) => Promise<Value>,
): (name: string) => Promise<Value> {
  const known = new Map<string, Promise<Value>>();
  return (name) => {
    const found = known.get(name) ?? find(name);
    known.set(name, found);
    return found;
  };
}

/** Makes drafts of requested prices: their references are checked in the log, each only once. What they do not say of their tax, the setting says. */
export function priceDrafts(context: RequestContext) {
  const meter = once((id) => meterReference(context, id));
  const group = once((id) => groupReference(context, id, 'price'));
  const unit = once((code) => priceUnitReference(context, code));
  const config = once(() => settingOf(context, 'tax_config'));
  const behavior = async () => (await config('')).default_behavior;
  return async (request: CreatePrice, owner: Owner, pointer = ''): Promise<PriceDraft> => {
    if (request.meter_id) await meter(request.meter_id);
    if (request.group_id) await group(request.group_id);
    const tax_behavior = request.tax_behavior ?? (await behavior());
    const said = { ...request, tax_behavior };
    return priceDraft(said, owner, await unitOf(request, unit, pointer), pointer);
  };
}

type UnitReference = (code: string) => ReturnType<typeof priceUnitReference>;

async function unitOf(
  { price_unit_type, price_unit_config, currency }: CreatePrice,
  unit: UnitReference,
  pointer: string,
): Promise<UnitSnapshot | null> {
  if (price_unit_type !== 'CUSTOM' || !price_unit_config) return null;
  const { id, code, symbol, conversion_rate, base_currency } = await unit(
    price_unit_config.price_unit,
  );
  if (base_currency !== currency) {
    throw invalidField(`${pointer}/currency`, `the pricing unit ${code} is in ${base_currency}`);
  }
  return { id, code, symbol, conversion_rate };
}
