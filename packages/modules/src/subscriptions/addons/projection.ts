import { expansion, inTable, projection, type RecordedEvent } from '@counterfoil/engine/define';
import {
  createdStamps,
  invariant,
  lastInstant,
  type RecordStamps,
  updatedStamps,
  withoutNulls,
} from '@counterfoil/kernel';
import { addonTable } from '../../offers/index.ts';
import type { SubscriptionEvent } from '../events.ts';
import { subscription } from '../subscription.ts';
import { stampsOf } from '../view.ts';
import { type Addon, type AddonData, newAddon } from './association.ts';
import { addonAfter } from './changed.ts';
import type { AddonAssociation } from './schema.ts';

type Event = RecordedEvent<SubscriptionEvent>;

/** An add-on that a subscription has or had, with what its row shows of that. */
export interface AssociationRow {
  readonly addon: Addon;
  readonly subscription_id: string;
  readonly stamps: RecordStamps;
}

/** The associations that an event is about. */
function touched(event: Event): readonly string[] {
  switch (event.type) {
    case 'SubscriptionCreated':
    case 'SubscriptionActivated':
    case 'PauseEnded':
    case 'TrialMoved':
      return event.data.addons.map(({ id }) => id);
    case 'AddonAttached':
      return [event.data.addon.id];
    case 'AddonRemoved':
    case 'AddonBegun':
    case 'AddonEnded':
      return [event.data.addon_association_id];
    case 'SubscriptionCancelled':
      return event.data.addons;
    default:
      return [];
  }
}

const begun = (addon: AddonData, subscription_id: string, { stamp }: Event): AssociationRow => ({
  addon: newAddon(addon, stamp.occurred_at),
  subscription_id,
  stamps: createdStamps(stamp),
});

/** The row of an association after an event that touches it. */
function associationAfter(
  row: AssociationRow | null,
  event: Event,
  key: string,
): AssociationRow | null {
  if (event.type === 'SubscriptionCreated') {
    const addon = event.data.addons.find(({ id }) => id === key);
    return addon ? begun(addon, event.data.id, event) : null;
  }
  if (event.type === 'AddonAttached') return begun(event.data.addon, event.aggregate_id, event);
  invariant(row, `the add-on ${key} changes before it is attached`);
  const stamps = { ...row.stamps, ...updatedStamps(event.stamp) };
  return { ...row, stamps, addon: addonAfter(row.addon, event) };
}

/** The association as the API shows it, without the add-on. */
export const associationView = ({ addon, subscription_id, stamps }: AssociationRow) =>
  withoutNulls({
    id: addon.id,
    ...stampsOf(stamps),
    status: 'published' as const,
    addon_id: addon.addon_id,
    entity_id: subscription_id,
    entity_type: 'subscription' as const,
    addon_status: addon.addon_status,
    cadence: addon.cadence,
    start_date: addon.start_date,
    end_date: addon.end_date,
    cancelled_at: addon.cancelled_at,
    cancellation_reason: addon.cancellation_reason,
    metadata: addon.metadata,
  });

/** One row per add-on that a subscription has or had. */
export const addonAssociationTable = projection(subscription, {
  name: 'addon_associations',
  version: 1,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.entity_id, index: true },
    start_date: { type: 'timestamptz', of: (shown) => shown.start_date },
    end_date: { type: 'timestamptz', of: (shown) => shown.end_date ?? lastInstant },
  },
  keys: touched,
  fold: associationAfter,
  view: (row: AssociationRow): AddonAssociation => associationView(row),
});

/** The add-on that an association is of, as the catalogue has it. */
export const associationExpansion = expansion<AddonAssociation>({
  addons: { as: 'addon', id: ({ addon_id }) => addon_id, find: inTable(addonTable), always: true },
});
