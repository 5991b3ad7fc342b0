import { module } from '@counterfoil/engine/define';
import { settingRoutes } from './routes.ts';
import { setting } from './setting.ts';

export { settingAt, settingOf } from './queries.ts';
export { changeSetting, setting } from './setting.ts';
export type { NumberFormat, SettingValue } from './values.ts';

/** The ways of an environment of its own: the numbers and dates of invoices, and what becomes of debts. */
export const settings = module({
  name: 'settings',
  aggregates: [setting],
  tables: [],
  routes: settingRoutes,
  publicEvents: [],
});

/** The routes with their exact types, for the typed client. */
export type SettingRoutes = typeof settingRoutes;
