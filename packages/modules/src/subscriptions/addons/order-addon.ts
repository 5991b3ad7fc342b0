import type { RequestContext } from '@counterfoil/engine/define';
import {
  type AddonAssociationId,
  type AddonId,
  type Currency,
  type Instant,
  invalidOperation,
  notFound,
  type SubscriptionId,
} from '@counterfoil/kernel';
import { type Offer, offer } from '../../offers/index.ts';
import { creditsOf, grantedBy, offeredLines, withMeterName } from '../creation/offered.ts';
import type { Rhythm } from '../creation/offered-prices.ts';
import type { AddAddonParams } from '../schema.ts';
import type { OrderedAddon } from './ordered-addon.ts';

/** The subscription that an add-on is ordered for. */
export interface AddonOrdering {
  readonly id: SubscriptionId;
  readonly currency: Currency;
  readonly rhythm: Rhythm;
  /** The instant from which it has the add-on, unless that says another. */
  readonly start: Instant;
}

/** An add-on as it is ordered, after everything that it refers to was found in the log. */
export async function orderedAddon(
  context: RequestContext,
  { id, currency, rhythm, start: hostStart }: AddonOrdering,
  association_id: AddonAssociationId,
  body: AddAddonParams,
  pointer: string,
): Promise<OrderedAddon> {
  const sold = await addonNamed(context, body.addon_id, pointer);
  const start = body.start_date ?? hostStart;
  const overrides = body.override_line_items ?? [];
  const commitments = body.line_item_commitments ?? null;
  const sale = { id, owner: association_id, offer: sold, currency, rhythm, start };
  const lines = offeredLines({ ...sale, overrides, commitments, pointer }, context.now);
  return {
    id: association_id,
    addon_id: body.addon_id,
    addon_name: sold.root.record.name,
    cadence: body.cadence ?? 'recurring',
    start_date: body.start_date ?? null,
    metadata: body.metadata ?? {},
    entitlements: grantedBy(sold),
    lines: await Promise.all(lines.map((line) => withMeterName(context, line))),
    grants: creditsOf(sold, start),
    pointer,
  };
}

/** The add-on that a request names, as the log has it. */
async function addonNamed(context: RequestContext, id: AddonId, pointer: string): Promise<Offer> {
  const field = `${pointer}/addon_id`.slice(1);
  const found = await context.load(offer, id);
  const status = found?.root.record.status;
  if (found?.root.kind !== 'ADDON' || status === 'deleted') throw notFound('add-on', id, field);
  if (status === 'published') return found;
  throw invalidOperation(`The add-on ${id} is archived: nobody can buy it.`, {
    reason: 'archived',
    field,
  });
}
