import { unused } from '@counterfoil/engine/define';
import {
  decimalPlaces,
  nonNegativeDecimalSchema,
  positiveDecimalSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { wireNumber } from '../alert-settings.ts';

export {
  type AlertSettings,
  alertSettingsInput,
  alertSettingsSchema,
  alertSettingsView,
  assertConsistentAlerts,
} from '../alert-settings.ts';

/** The most automatic top-ups of one UTC day, where a wallet sets no limit of its own (D29). */
const dailyTopUps = 10;
const dailyTopUpsMaximum = 1_000;

/** Automatic top-up; `amount` and `threshold` are credits (D29). */
export const autoTopupSchema = z.object({
  enabled: z.boolean().default(false),
  amount: positiveDecimalSchema(decimalPlaces.credits),
  threshold: nonNegativeDecimalSchema(decimalPlaces.credits),
  /** False is the word that loads are paid for elsewhere (D72). */
  invoicing: z.boolean().default(true),
  daily_limit: z.number().int().min(1).max(dailyTopUpsMaximum).optional(),
});
export type AutoTopup = z.output<typeof autoTopupSchema>;

/** Automatic top-up as a request gives it. */
export const autoTopupInput = autoTopupSchema
  .extend({ cooldown: unused })
  .meta({ id: 'ChangeAutoTopup' });

/** Automatic top-ups of one UTC day after which the breaker stops them. */
export const dailyLimitOf = ({ daily_limit }: AutoTopup): number => daily_limit ?? dailyTopUps;

export const priceTypeSchema = z.enum(['ALL', 'USAGE', 'FIXED']);

/** The charges that the wallet may pay. */
export const walletConfigSchema = z
  .object({ allowed_price_types: z.array(priceTypeSchema).min(1).max(3) })
  .meta({ id: 'WalletConfig' });

/** Automatic top-up on the wire: amounts as JSON numbers. */
export const autoTopupView = (settings: AutoTopup | null) =>
  settings && {
    enabled: settings.enabled,
    amount: wireNumber(settings.amount),
    threshold: wireNumber(settings.threshold),
    invoicing: settings.invoicing,
    daily_limit: dailyLimitOf(settings),
  };
