import {
  aggregate,
  type Changes,
  changedFields,
  createdStamps,
  type Decision,
  type EventOf,
  isEmpty,
  type RecordStamps,
  updatedStamps,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { definitions, type SettingKey, type SettingValue } from './values.ts';

const events = {
  /** Members of a setting have new values. */
  InvoiceConfigChanged: definitions.invoice_config.schema.partial(),
  SubscriptionConfigChanged: definitions.subscription_config.schema.partial(),
  BonusConfigChanged: definitions.bonus_credits_topup_config.schema.partial(),
  TaxConfigChanged: definitions.tax_config.schema.partial(),
  /** All its members have their defaults again. */
  SettingReset: z.object({}),
} as const;
export type SettingEvent = EventOf<typeof events>;

/** A setting that was set at some time. */
interface Setting extends RecordStamps {
  /** The members with values of their own; the others have their defaults. */
  readonly own: Readonly<Record<string, unknown>>;
}
/** Null for one that nobody has ever set. */
export type SettingState = Setting | null;

/** The settings of an environment. Each has a stream of its own, whose id is its key. */
export const setting = aggregate({
  name: 'setting',
  scope: 'environment',
  events,
  initial: null as SettingState,
  evolve: (state, event): SettingState => {
    const { stamp } = event;
    const before = { ...(state ?? createdStamps(stamp)), ...updatedStamps(stamp) };
    switch (event.type) {
      case 'InvoiceConfigChanged':
      case 'SubscriptionConfigChanged':
      case 'BonusConfigChanged':
      case 'TaxConfigChanged':
        return { ...before, own: { ...state?.own, ...event.data } };
      case 'SettingReset':
        return { ...before, own: {} };
      default:
        return event satisfies never;
    }
  },
});

/** The value that counts: what was set, and defaults for the rest. */
export const settingValue = <Key extends SettingKey>(
  key: Key,
  state: SettingState,
): SettingValue<Key> =>
  // The stream of a key has members of its value and no others.
  ({ ...definitions[key].defaults, ...state?.own }) as SettingValue<Key>;

const changedEvents = {
  invoice_config: 'InvoiceConfigChanged',
  subscription_config: 'SubscriptionConfigChanged',
  bonus_credits_topup_config: 'BonusConfigChanged',
  tax_config: 'TaxConfigChanged',
} as const satisfies Record<SettingKey, SettingEvent['type']>;

/** Gives members of a setting values of their own; the others stay as they are. No event when nothing changes. */
export const changeSetting =
  <Key extends SettingKey>(
    key: Key,
    changes: Changes<SettingValue<Key>>,
  ): Decision<SettingState, SettingEvent> =>
  (state) => {
    const data = changedFields<Record<string, unknown>>({ ...state?.own }, { ...changes });
    // Members of the value of a key are what its event holds.
    return isEmpty(data) ? [] : [{ type: changedEvents[key], data } as SettingEvent];
  };

/** Gives all members of a setting their defaults again. No event where they have them. */
export const resetSetting = (): Decision<SettingState, SettingEvent> => (state) =>
  state === null || isEmpty(state.own) ? [] : [{ type: 'SettingReset', data: {} }];
