import type { FillSession } from '@counterfoil/engine/define';
import { Watched } from './alerts/watched.ts';
import { WatchedBalances } from './balances/watched-balances.ts';
import type { ChangedUsage, UsageWatcher } from './watcher.ts';
import { WatchedUsage } from './watches/watched-usage.ts';

/** Everybody who is told that usage of customers changes, in one list. */
export class UsageWatchers {
  readonly alerts: Watched;
  readonly watches: WatchedUsage;
  readonly balances: WatchedBalances;
  readonly #all: readonly UsageWatcher[];

  constructor(session: FillSession) {
    this.alerts = new Watched(session);
    this.watches = new WatchedUsage(session);
    this.balances = new WatchedBalances(session);
    this.#all = [this.alerts, this.watches, this.balances];
  }

  forget(): void {
    for (const each of this.#all) each.forget();
  }

  /** Usage has come, or counts no more: a reason to look at what looks at it. */
  async touch(usage: ChangedUsage): Promise<void> {
    for (const each of this.#all) await each.touch(usage);
  }

  async customersChanged(ids: readonly string[]): Promise<void> {
    for (const each of this.#all) await each.customersChanged(ids);
  }
}
