import type { AskingContext, CommandContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { type SettingState, setting, settingValue } from './setting.ts';
import type { SettingKey, SettingValue } from './values.ts';

/**
 * A setting of the environment of a context, from the log and so never behind: every member has a value, its own or
 * its default. The one way in which other slices read settings.
 */
export const settingOf = async <Key extends SettingKey>(
  context: Pick<CommandContext, 'load'>,
  key: Key,
): Promise<SettingValue<Key>> => settingValue(key, await context.load(setting, key));

/** The same as it was at an instant. */
export async function settingAt<Key extends SettingKey>(
  { history }: Pick<AskingContext, 'history'>,
  key: Key,
  at: Instant,
): Promise<SettingValue<Key>> {
  let state: SettingState = null;
  for await (const event of history(setting, key)) {
    if (event.stamp.occurred_at > at) break;
    state = setting.evolve(state, event);
  }
  return settingValue(key, state);
}
