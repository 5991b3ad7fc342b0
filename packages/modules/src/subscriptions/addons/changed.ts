import type { Stamped } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import { type Addon, endedWith, newAddon } from './association.ts';

/** An add-on after an event that is about it. */
export function addonAfter(addon: Addon, event: Stamped<SubscriptionEvent>): Addon {
  switch (event.type) {
    case 'SubscriptionActivated': {
      const dates = event.data.addons.find(({ id }) => id === addon.id);
      return newAddon({ ...addon, ...dates }, event.stamp.occurred_at);
    }
    case 'AddonRemoved': {
      const { end_date, reason: cancellation_reason } = event.data;
      return { ...addon, end_date, cancelled_at: event.stamp.occurred_at, cancellation_reason };
    }
    case 'TrialMoved':
    case 'PauseEnded': {
      const { start_date, end_date } = event.data.addons.find(({ id }) => id === addon.id) ?? addon;
      return { ...addon, start_date, end_date };
    }
    case 'AddonBegun':
      return { ...addon, addon_status: 'active' };
    case 'AddonEnded':
      return { ...addon, addon_status: 'cancelled' };
    case 'SubscriptionCancelled':
      return endedWith(addon, event.data.effective_at, event.data.reason);
    default:
      return addon;
  }
}
