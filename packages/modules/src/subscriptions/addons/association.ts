import {
  type Instant,
  instantSchema,
  invalidField,
  metadataSchema,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Granted, grantedData } from '../entitlements/granted.ts';
import { earlierEnd } from '../lines/line.ts';

/** Sold once, until the end of a period, or again with every one. */
export const addonCadenceSchema = z.enum(['onetime', 'recurring']).meta({ id: 'AddonCadence' });
export type AddonCadence = z.output<typeof addonCadenceSchema>;

export const addonStatusSchema = z
  .enum(['active', 'cancelled', 'pending'])
  .meta({ id: 'AddonStatus' });
export type AddonStatus = z.output<typeof addonStatusSchema>;

/** An add-on as a subscription was sold it: nothing changes in it because the catalogue does (ADR 41). */
export const addonData = z.object({
  id: referenceSchema('addon_assoc'),
  addon_id: referenceSchema('addon'),
  addon_name: z.string(),
  cadence: addonCadenceSchema,
  /** The subscription has it from here on. */
  start_date: instantSchema,
  /** Until right before here; null: as long as the subscription. */
  end_date: instantSchema.nullable(),
  metadata: metadataSchema,
  entitlements: z.array(grantedData),
});
export type AddonData = z.output<typeof addonData>;

/** An add-on that a subscription has, will have, or had in the period that runs. */
export interface Addon extends AddonData {
  readonly addon_status: AddonStatus;
  /** The instant at which its end was asked for. */
  readonly cancelled_at: Instant | null;
  readonly cancellation_reason: string | null;
}

/** An add-on that is attached at an instant; one that begins later waits for that. */
export const newAddon = (data: AddonData, at: Instant): Addon => ({
  ...data,
  addon_status: data.start_date <= at ? 'active' : 'pending',
  cancelled_at: null,
  cancellation_reason: null,
});

/** An add-on that ends because its subscription does. */
export const endedWith = (addon: Addon, at: Instant, reason: string | null): Addon => ({
  ...addon,
  end_date: earlierEnd(addon.end_date, at),
  addon_status: 'cancelled',
  cancelled_at: addon.cancelled_at ?? at,
  cancellation_reason: addon.cancellation_reason ?? reason,
});

/** The entitlements that add-ons give to a subscription whose due steps were taken, each add-on its own (E 8.2). */
export const addonEntitlements = (addons: readonly Addon[]): readonly Granted[] =>
  addons.flatMap(({ addon_status, entitlements }) =>
    addon_status === 'active' ? entitlements : [],
  );

/**
 * Refuses an add-on whose limit of a feature starts over in another rhythm than what the subscription has of that feature
 * already (E 8.3): their sum would be a limit of no period.
 */
export function assertSameResets(
  has: readonly Granted[],
  added: readonly Granted[],
  pointer: string,
): void {
  for (const { feature_id, feature_type, usage_reset_period } of added) {
    if (feature_type !== 'metered') continue;
    const other = has.find(
      (each) => each.feature_id === feature_id && each.usage_reset_period !== usage_reset_period,
    );
    if (!other) continue;
    const said = (period: Granted['usage_reset_period']) => period ?? 'with the billing period';
    throw invalidField(
      `${pointer}/addon_id`,
      `limits ${feature_id} ${said(usage_reset_period)}, the subscription ${said(other.usage_reset_period)}`,
    );
  }
}
