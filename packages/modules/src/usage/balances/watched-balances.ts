import { arrayText, type FillSession, type RecordChange } from '@counterfoil/engine/define';
import { type FeatureRecord, feature } from '../../features/index.ts';
import { type WalletEvent, wallet } from '../../wallets/index.ts';
import { type ChangedUsage, markedAgain, type UsageWatcher } from '../watcher.ts';
import { type PaidUsageEvent, paidUsage } from './paid-usage.ts';

/** The table of customers with prepaid wallets, with marks on those whose balance may have changed. */
export const watchedBalances = 'watched_balance';

/** The columns of the tables that readers see. */
export interface BalanceTables {
  /** Customers with prepaid wallets. */
  watched_balance: { readonly id: string; readonly environment: number; readonly wanted: boolean };
  /** These wallets. */
  watched_wallet: {
    readonly id: string;
    readonly environment: number;
    readonly customer_id: string;
  };
  /** Features that tell when a balance reaches a level. */
  alerting_feature: { readonly environment: number; readonly feature_id: string };
}

export const balanceRelations = [watchedBalances, 'watched_wallet', 'alerting_feature'] as const;

/** The statements that make the tables in a schema. */
export const createBalanceTables = (schema: string): readonly string[] => [
  `create table ${schema}.${watchedBalances} (
     id text collate "C" primary key,
     tenant_id text collate "C" not null,
     environment_id text collate "C" not null,
     environment integer not null,
     -- Whether a wallet of the customer has alerts or automatic top-up.
     wanted boolean not null,
     marked_at timestamptz,
     causes bigint not null)`,
  `create index on ${schema}.${watchedBalances} (marked_at) where marked_at is not null`,
  `create index on ${schema}.${watchedBalances} (environment)`,
  `create table ${schema}.watched_wallet (
     id text collate "C" primary key,
     environment integer not null,
     customer_id text collate "C" not null,
     alerts boolean not null,
     tops_up boolean not null)`,
  `create index on ${schema}.watched_wallet (customer_id)`,
  `create table ${schema}.paid_usage (
     subscription_id text collate "C" not null,
     customer_id text collate "C" not null,
     payer_id text collate "C" not null,
     primary key (customer_id, payer_id, subscription_id))`,
  `create table ${schema}.alerting_feature (
     environment integer not null,
     feature_id text collate "C" not null,
     primary key (environment, feature_id))`,
];

/** The contents of the tables but for the marks, which come and go. */
export const comparedBalances = {
  watched_balance: (schema: string) =>
    `select id, tenant_id, environment_id, wanted from ${schema}.${watchedBalances}`,
  watched_wallet: (schema: string) =>
    `select id, customer_id, alerts, tops_up from ${schema}.watched_wallet`,
  paid_usage: (schema: string) =>
    `select subscription_id, customer_id, payer_id from ${schema}.paid_usage`,
  alerting_feature: (schema: string) =>
    `select environment_id, feature_id
       from ${schema}.alerting_feature as own
       join ${schema}.environment on environment.number = own.environment`,
};

/** The records whose events say whose balance is looked at. */
export const balanceRecords = [wallet, feature, paidUsage] as const;

/** Tells whether a change is of a record that balances follow from: it has no part in what usage counts as. */
export const isOfBalances = ({ event }: RecordChange): boolean =>
  balanceRecords.some(({ name }) => name === event.aggregate);

/** The customers of wallets and usage of one batch whose balances may have changed. */
interface Touched {
  readonly customers: Set<string>;
  readonly wallets: Set<string>;
}

/**
 * The customers whose balances somebody wants to hear of, as the log says, in the session that fills the tables. Where nobody does, neither
 * usage nor wallets cost anything: which customers these are is kept in memory.
 */
export class WatchedBalances implements UsageWatcher {
  readonly #session: FillSession;
  /** Null before it is read. */
  #wanted: { readonly customers: Set<string>; readonly environments: Set<number> } | null = null;
  readonly #touched: Touched = { customers: new Set(), wallets: new Set() };
  /** The wallets that were opened, until something is asked of the tables: many come together. */
  #opened: OpenedWallet[] = [];

  constructor(session: FillSession) {
    this.#session = session;
  }

  forget(): void {
    this.#wanted = null;
    this.#touched.customers.clear();
    this.#touched.wallets.clear();
    this.#opened = [];
  }

  /**
   * Tells of a movement that nobody wants to hear of its customer. Somebody who begins to want it is given a reason to look by the
   * event with which that begins, and sees what came after it in the same batch.
   */
  passesBy(aggregate: string, type: string): boolean {
    const isIdle = this.#wanted?.customers.size === 0 && this.#wanted.environments.size === 0;
    return isIdle && aggregate === wallet.name && movements.has(type);
  }

  /** Reads whose balances somebody wants to hear of, unless it is known: until then nothing passes by. */
  async load(): Promise<void> {
    await this.#load();
  }

  /** Follows a wallet, a feature, or who pays for whom. */
  async follow({ event, ...place }: RecordChange, environment: number): Promise<void> {
    const id = event.aggregate_id;
    const opens = event.type === ('WalletCreated' satisfies WalletEvent['type']);
    if (this.#opened.length > 0 && !opens) await this.#writeOpened();
    switch (event.aggregate) {
      case wallet.name:
        return await this.#followWallet(id, event as unknown as WalletEvent, {
          ...place,
          environment,
        });
      case feature.name:
        return await this.#followFeature(id, event as unknown as FeatureChange, environment);
      default:
        return await this.#followPaidUsage(id, event as unknown as PaidUsageEvent);
    }
  }

  /** A reason to look at the balances of who used it, and of who pays for that. */
  async touch({ accounts }: ChangedUsage): Promise<void> {
    if (await this.#isIdle()) return;
    const { query, schema } = this.#session;
    const { rows } = await query<{ id: string }>(
      `with used as (select distinct customer_id from ${schema}.account
                      where number = any($1::bigint[]) and customer_id is not null)
       select customer_id as id from used
        union select payer_id from ${schema}.paid_usage join used using (customer_id)`,
      [arrayText([...accounts])],
    );
    for (const { id } of rows) this.#touched.customers.add(id);
  }

  async customersChanged(ids: readonly string[]): Promise<void> {
    if (await this.#isIdle()) return;
    for (const id of ids) this.#touched.customers.add(id);
  }

  /** Marks the customers that the batch was about, at its end. */
  async mark(): Promise<void> {
    const { customers, wallets } = this.#touched;
    await this.#writeOpened();
    if (customers.size + wallets.size === 0) return;
    const wanted = await this.#load();
    const { query, schema } = this.#session;
    await query(
      `update ${schema}.${watchedBalances} set ${markedAgain}
        where (wanted or environment = any($1::int[]))
          and id in (select unnest($2::text[])
                      union all select customer_id from ${schema}.watched_wallet
                                 where id = any($3::text[]))`,
      [
        arrayText([...wanted.environments].map(String)),
        arrayText([...customers]),
        arrayText([...wallets]),
      ],
    );
    customers.clear();
    wallets.clear();
  }

  async #followWallet(id: string, event: WalletEvent, place: Place): Promise<void> {
    switch (event.type) {
      case 'WalletCreated':
        return event.data.wallet_type === 'PRE_PAID'
          ? await this.#open(id, event.data, place)
          : undefined;
      case 'WalletSettingsChanged': {
        const { alert_settings, auto_topup, config, priority } = event.data;
        const changed = [alert_settings, auto_topup, config, priority];
        if (changed.every((each) => each === undefined)) return;
        await this.#session.query(
          `update ${this.#session.schema}.watched_wallet
              set alerts = coalesce($2, alerts), tops_up = coalesce($3, tops_up) where id = $1`,
          [
            id,
            alert_settings === undefined ? null : isOn(alert_settings?.alert_enabled),
            auto_topup === undefined ? null : isOn(auto_topup?.enabled),
          ],
        );
        // A level that nothing watches any more is told of as left.
        return await this.#review(id);
      }
      case 'WalletClosed':
        await this.#review(id);
        await this.#session.query(
          `delete from ${this.#session.schema}.watched_wallet where id = $1`,
          [id],
        );
        return;
      // They change nothing that can be spent, and an order is not made again by its own end (ADR 11).
      case 'TopUpRequested':
      case 'TopUpFailed':
      case 'AutomaticTopUpStopped':
      case 'AlertStateChanged':
      case 'OngoingAlertStateChanged':
      case 'FeatureAlertStateChanged':
      case 'BulkRecorded':
        return;
      case 'HoldChanged':
      case 'HoldReleased':
      case 'WalletFrozen':
      case 'WalletUnfrozen':
        if (!(await this.#isIdle())) this.#touched.wallets.add(id);
        return;
      case 'CreditsLoaded':
      case 'CreditsDebited':
      case 'CreditsExpired':
      case 'CreditsHeld':
      case 'HoldCaptured':
      case 'DebitReversed': {
        const { customers, environments } = await this.#load();
        const { customer_id } = event.data;
        if (!customers.has(customer_id) && !environments.has(place.environment)) return;
        this.#touched.customers.add(customer_id);
        return;
      }
      default:
        event satisfies never;
    }
  }

  async #isIdle(): Promise<boolean> {
    const { customers, environments } = await this.#load();
    return customers.size === 0 && environments.size === 0;
  }

  async #open(
    id: string,
    { customer_id, alert_settings, auto_topup }: CreatedWallet,
    { tenantId, environmentId, environment }: Place,
  ): Promise<void> {
    const [alerts, tops_up] = [isOn(alert_settings?.alert_enabled), isOn(auto_topup?.enabled)];
    this.#opened.push({
      ...{ id, customer_id, alerts, tops_up, environment },
      ...{ tenant_id: tenantId, environment_id: environmentId },
    });
    if (alerts || tops_up) (await this.#load()).customers.add(customer_id);
    this.#touched.customers.add(customer_id);
  }

  /** Writes the wallets that were opened in the batch until now, before anything is asked of them. */
  async #writeOpened(): Promise<void> {
    if (this.#opened.length === 0) return;
    const opened = JSON.stringify(this.#opened);
    this.#opened = [];
    const { query, schema } = this.#session;
    const wallets = `jsonb_to_recordset($1::jsonb) as opened(id text, environment int, customer_id text,
      tenant_id text, environment_id text, alerts boolean, tops_up boolean)`;
    await query(
      `insert into ${schema}.watched_wallet
       select id, environment, customer_id, alerts, tops_up from ${wallets}`,
      [opened],
    );
    await query(
      `insert into ${schema}.${watchedBalances} as own
       select customer_id, tenant_id, environment_id, environment, bool_or(alerts or tops_up), null, 0
         from ${wallets} group by customer_id, tenant_id, environment_id, environment
           on conflict (id) do update set wanted = own.wanted or excluded.wanted`,
      [opened],
    );
  }

  /** Works out again whether somebody wants to hear of the customer of a wallet, which is looked at once more in any case. */
  async #review(walletId: string): Promise<void> {
    const { query, schema } = this.#session;
    await query(
      `update ${schema}.${watchedBalances} as own
          set ${markedAgain},
              wanted = exists (select from ${schema}.watched_wallet as each
                                where each.customer_id = own.id and (each.alerts or each.tops_up))
        where id = (select customer_id from ${schema}.watched_wallet where id = $1)`,
      [walletId],
    );
    this.#wanted = null;
  }

  async #followFeature(id: string, event: FeatureChange, environment: number): Promise<void> {
    const settings = event.type === 'FeatureArchived' ? null : event.data.alert_settings;
    if (settings === undefined) return;
    const { query, schema } = this.#session;
    const own = [environment, id];
    if (isOn(settings?.alert_enabled)) {
      await query(
        `insert into ${schema}.alerting_feature values ($1, $2) on conflict do nothing`,
        own,
      );
    } else {
      const gone = `delete from ${schema}.alerting_feature where environment = $1 and feature_id = $2`;
      if ((await query(gone, own)).count === 0) return;
    }
    this.#wanted = null;
    await query(
      `update ${schema}.${watchedBalances} set ${markedAgain}
        where environment = $1`,
      [environment],
    );
  }

  async #followPaidUsage(id: string, { data }: PaidUsageEvent): Promise<void> {
    const { query, schema } = this.#session;
    await query(
      `insert into ${schema}.paid_usage
       select $1, customer_id, $2 from unnest($3::text[]) as customer_id on conflict do nothing`,
      [id, data.payer_id, arrayText(data.customer_ids)],
    );
    this.#touched.customers.add(data.payer_id);
  }

  async #load() {
    if (this.#wanted) return this.#wanted;
    await this.#writeOpened();
    const { query, schema } = this.#session;
    const customers = await query<{ id: string }>(
      `select id from ${schema}.${watchedBalances} where wanted`,
    );
    const environments = await query<{ environment: number }>(
      `select distinct environment from ${schema}.alerting_feature`,
    );
    this.#wanted = {
      customers: new Set(customers.rows.map(({ id }) => id)),
      environments: new Set(environments.rows.map(({ environment }) => environment)),
    };
    return this.#wanted;
  }
}

/** The events of wallets that are no more than a reason to look at a balance. */
const movements: ReadonlySet<string> = new Set<WalletEvent['type']>([
  ...(['CreditsLoaded', 'CreditsDebited', 'CreditsExpired', 'CreditsHeld'] as const),
  ...(['HoldCaptured', 'HoldChanged', 'HoldReleased', 'DebitReversed'] as const),
  ...(['WalletFrozen', 'WalletUnfrozen'] as const),
]);

/** A wallet as the tables are given it. */
interface OpenedWallet {
  readonly id: string;
  readonly environment: number;
  readonly customer_id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly alerts: boolean;
  readonly tops_up: boolean;
}

interface Place extends Pick<RecordChange, 'tenantId' | 'environmentId'> {
  readonly environment: number;
}

type CreatedWallet = Extract<WalletEvent, { type: 'WalletCreated' }>['data'];

/** An event of a feature, as far as its alerts are concerned. */
type FeatureChange =
  | {
      readonly type: 'FeatureCreated' | 'FeatureUpdated';
      readonly data: Partial<Pick<FeatureRecord, 'alert_settings'>>;
    }
  | { readonly type: 'FeatureArchived'; readonly data: object };

const isOn = (flag: boolean | undefined): boolean => flag === true;
