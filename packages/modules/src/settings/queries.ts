import type { CommandContext } from '@counterfoil/engine/define';
import { setting, settingValue } from './setting.ts';
import type { SettingKey, SettingValue } from './values.ts';

/**
 * A setting of the environment of a context, from the log and so never behind: every member has a value, its own or
 * its default. The one way in which other slices read settings.
 */
export const settingOf = async <Key extends SettingKey>(
  context: Pick<CommandContext, 'load'>,
  key: Key,
): Promise<SettingValue<Key>> => settingValue(key, await context.load(setting, key));
