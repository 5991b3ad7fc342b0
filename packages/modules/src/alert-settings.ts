import { unused } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  decimalPlaces,
  decimalSchema,
  invalidField,
  withConditions,
  withoutNulls,
} from '@counterfoil/kernel';
import { z } from 'zod';

/**
 * Thresholds are JSON numbers on the wire (specification §2.5) and exact decimals everywhere else.
 * Nothing computes with the result.
 */
export const wireNumber = (text: DecimalText): number => Number(text);

const conditionSchema = z.enum(['below', 'above']);
const creditsSchema = decimalSchema(decimalPlaces.credits);

/** An alert level as a caller gives it; the condition defaults to `below` (D28). */
const thresholdSchema = z
  .object({
    threshold: creditsSchema,
    condition: conditionSchema.default('below'),
  })
  .meta({ id: 'ChangeAlertLevel' });

export const alertSettingsSchema = z.object({
  alert_enabled: z.boolean().default(true),
  critical: thresholdSchema.nullish(),
  warning: thresholdSchema.nullish(),
  info: thresholdSchema.nullish(),
});
export type AlertSettings = z.output<typeof alertSettingsSchema>;

/** Alert levels, the most severe first. */
export const alertLevels = ['critical', 'warning', 'info'] as const;

const needsLevel = 'needs at least one of critical, warning and info';
const needsCritical = 'needs critical beside it';

const givenSettings = alertSettingsSchema.extend({ alert_threshold_type: unused });

/** Alert settings as a request gives them that keeps nothing of those before. */
export const alertSettingsInput = withConditions(givenSettings, [
  { when: { alert_enabled: true }, someOf: alertLevels, says: needsLevel },
  { beside: 'warning', needs: 'critical', says: needsCritical },
]).meta({ id: 'ChangeAlertSettings' });

/** Those that a request changes, which keep what it does not name. */
export const changedAlertSettingsInput = givenSettings.extend({
  alert_enabled: z.boolean().optional(),
});

/**
 * Refuses levels that contradict each other (D28): enabled needs a level, warning needs critical,
 * one condition for all, and for `below` critical ≤ warning ≤ info, for `above` the reverse.
 */
export function assertConsistentAlerts(settings: AlertSettings): void {
  const given = alertLevels.flatMap((level) => {
    const entry = settings[level];
    return entry ? [{ level, ...entry }] : [];
  });
  if (settings.alert_enabled && given.length === 0) {
    throw invalidField('/alert_settings', needsLevel);
  }
  if (settings.warning && !settings.critical) {
    throw invalidField('/alert_settings/warning', needsCritical);
  }
  for (const [index, next] of given.slice(1).entries()) {
    const previous = given[index];
    if (!previous) continue;
    if (previous.condition !== next.condition) {
      throw invalidField(
        `/alert_settings/${next.level}/condition`,
        'must be the same on every level',
      );
    }
    const order = decimal(previous.threshold).cmp(decimal(next.threshold));
    const isOrdered = next.condition === 'below' ? order <= 0 : order >= 0;
    if (!isOrdered) {
      throw invalidField(
        `/alert_settings/${next.level}/threshold`,
        `must not be ${next.condition === 'below' ? 'below' : 'above'} that of ${previous.level}`,
      );
    }
  }
}

const levelOutput = z
  .object({ threshold: z.number(), condition: conditionSchema })
  .meta({ id: 'AlertLevel' });

/** Alert settings as the API shows them. */
export const alertSettingsOutput = z
  .object({
    alert_enabled: z.boolean(),
    critical: levelOutput.optional(),
    warning: levelOutput.optional(),
    info: levelOutput.optional(),
  })
  .meta({ id: 'AlertSettings' });

const levelView = (level: AlertSettings['critical']) =>
  level ? { threshold: wireNumber(level.threshold), condition: level.condition } : null;

/** Alert settings on the wire: thresholds as JSON numbers, levels that are not set left out. */
export const alertSettingsView = (settings: AlertSettings | null) =>
  settings &&
  withoutNulls({
    alert_enabled: settings.alert_enabled,
    critical: levelView(settings.critical),
    warning: levelView(settings.warning),
    info: levelView(settings.info),
  });
