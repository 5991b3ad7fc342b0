import { type DecimalText, decimal } from '@counterfoil/kernel';
import type { AlertState, WalletEvent } from './events.ts';
import type { AlertSettings } from './settings.ts';
import { availableIn, type Wallet } from './wallet.ts';

/** From harmless to severe. */
const severity: Readonly<Record<AlertState, number>> = { ok: 0, info: 1, warning: 2, in_alarm: 3 };

const levels = [
  ['critical', 'in_alarm'],
  ['warning', 'warning'],
  ['info', 'info'],
] as const;

/**
 * The alert state of credits under the settings: the most severe level that they have reached, the
 * threshold itself included; `ok` without settings or while they are off (D28).
 */
export function alertStateOf(settings: AlertSettings | null, credits: DecimalText): AlertState {
  if (!settings?.alert_enabled) return 'ok';
  for (const [level, state] of levels) {
    const entry = settings[level];
    if (!entry) continue;
    const order = decimal(credits).cmp(decimal(entry.threshold));
    if (entry.condition === 'below' ? order <= 0 : order >= 0) return state;
  }
  return 'ok';
}

/** The change of the alert state that follows from what can be spent and the settings, if any. */
export function alertEvents(wallet: Wallet): readonly WalletEvent[] {
  const { alert_settings, alert_state: before } = wallet;
  if (alert_settings === null && before === 'ok') return [];
  const available = availableIn(wallet);
  const after = alertStateOf(alert_settings, available);
  if (after === before) return [];
  return [{ type: 'AlertStateChanged', data: { before, after, available } }];
}

/** Tells whether the second state is more severe than the first. */
export const isWorse = (before: AlertState, after: AlertState): boolean =>
  severity[after] > severity[before];
