import type { EventBroker, EventGateway, FileStore, Module } from '@counterfoil/engine/define';
import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import {
  type Sealer,
  strictTargetPolicy,
  type TargetPolicy,
  type WebhookRoutes,
  webhooks,
} from '@counterfoil/webhooks';
import { type AlertLogRoutes, alertLog } from './alert-log/index.ts';
import { type CatalogTransferRoutes, catalogTransfer } from './catalog-transfer/index.ts';
import { type CheckpointRoutes, checkpoints } from './checkpoints/index.ts';
import { type ClockRoutes, environmentClocks, type FollowedClocks } from './clocks/index.ts';
import { type ConnectionRoutes, connections } from './connections/index.ts';
import { type CostAnalyticsRoutes, costAnalyticsModule } from './cost-analytics/index.ts';
import { type CouponRoutes, coupons } from './coupons/index.ts';
import { type CreditNoteRoutes, creditNotes } from './credit-notes/index.ts';
import { type CustomerRoutes, customers } from './customers/index.ts';
import { type DocumentRoutes, documents } from './documents/index.ts';
import { type EntitlementCheckRoutes, entitlementChecks } from './entitlement-checks/index.ts';
import { type CustomerEntitlementRoutes, entitlements } from './entitlements/index.ts';
import { type EnvironmentCloneRoutes, environmentClones } from './environment-clones/index.ts';
import { type EventRoutes, events } from './events/index.ts';
import { type ExportRoutes, exportColumnsOf, exportsModule } from './exports/index.ts';
import { type FeatureRoutes, features } from './features/index.ts';
import { type GroupRoutes, groups } from './groups/index.ts';
import { type InvoiceRoutes, invoices, invoicingWith, purchasedAtOnce } from './invoices/index.ts';
import { type MeterRoutes, meters } from './meters/index.ts';
import { type OfferRoutes, offersWith } from './offers/index.ts';
import { type OngoingBalanceRoutes, ongoingBalancesModule } from './ongoing-balances/index.ts';
import {
  collectingAtOnce,
  type PaymentProvider,
  type PaymentRoutes,
  payments,
} from './payments/index.ts';
import { type PriceUnitRoutes, pricingUnits } from './pricing-units/index.ts';
import { defaultQuotas, type Quotas } from './quotas.ts';
import { type ReratingRoutes, rerating } from './rerating/index.ts';
import { type ScheduledTaskRoutes, scheduledTasks } from './scheduled-tasks/index.ts';
import type { Secrets } from './secrets.ts';
import { type SettingRoutes, settings } from './settings/index.ts';
import { type StripeRoutes, stripe } from './stripe/index.ts';
import {
  chargesOf,
  grantsOf,
  ofSubscriptions,
  type SubscriptionRoutes,
  subscriptionsWith,
} from './subscriptions/index.ts';
import { type TaskRoutes, tasks } from './tasks/index.ts';
import { type TaxAssociationRoutes, taxAssociations } from './tax-associations/index.ts';
import { type TaxProviderRoutes, taxProviders } from './tax-provider/index.ts';
import { type TaxRoutes, taxes } from './taxes/index.ts';
import { type Directory, type TenancyRoutes, tenancy } from './tenancy/index.ts';
import { type UsageRoutes, usage } from './usage/index.ts';
import { type WalletRoutes, walletsWith } from './wallets/index.ts';
import { type WhatIfRoutes, whatIf } from './what-if/index.ts';
import { type WorkflowRoutes, workflows } from './workflows/index.ts';

export * from './catalog-transfer/index.ts';
export * from './checkpoints/index.ts';
export * from './clocks/index.ts';
export * from './connections/index.ts';
export * from './coupons/index.ts';
export * from './credit-notes/index.ts';
export * from './customers/index.ts';
export * from './documents/index.ts';
export * from './entitlement-checks/index.ts';
export * from './events/index.ts';
export * from './exports/index.ts';
export * from './features/index.ts';
export * from './folding-packages.ts';
export * from './groups/index.ts';
export * from './invoices/index.ts';
export * from './meters/index.ts';
export * from './offers/index.ts';
export * from './ongoing-balances/index.ts';
export * from './parts.ts';
export * from './payments/index.ts';
export * from './pricing-units/index.ts';
export * from './quotas.ts';
export * from './scheduled-tasks/index.ts';
export * from './secrets.ts';
export * from './settings/index.ts';
export { paymentProviderOf, providerVariables, takeStripeNotice } from './stripe/index.ts';
export * from './subscriptions/index.ts';
export * from './tasks/index.ts';
export * from './taxes/index.ts';
export * from './tenancy/index.ts';
export * from './usage/index.ts';
export * from './wallets/index.ts';

/** The routes of all slices with their exact types: what the typed client is made of. */
export type ApiRoutes = TenancyRoutes &
  CustomerRoutes &
  MeterRoutes &
  GroupRoutes &
  PriceUnitRoutes &
  FeatureRoutes &
  CustomerEntitlementRoutes &
  EntitlementCheckRoutes &
  CouponRoutes &
  TaxRoutes &
  TaxAssociationRoutes &
  TaxProviderRoutes &
  OfferRoutes &
  CatalogTransferRoutes &
  EnvironmentCloneRoutes &
  ClockRoutes &
  WalletRoutes &
  SubscriptionRoutes &
  InvoiceRoutes &
  OngoingBalanceRoutes &
  PaymentRoutes &
  StripeRoutes &
  CreditNoteRoutes &
  ReratingRoutes &
  WhatIfRoutes &
  CostAnalyticsRoutes &
  DocumentRoutes &
  ConnectionRoutes &
  TaskRoutes &
  AlertLogRoutes &
  WorkflowRoutes &
  ScheduledTaskRoutes &
  ExportRoutes &
  SettingRoutes &
  UsageRoutes &
  WebhookRoutes &
  CheckpointRoutes &
  EventRoutes;

/** The parts from outside that the slices need. */
export interface ModulesOptions {
  /** Null in processes that serve no requests, such as the projector. */
  readonly secrets: Secrets | null;
  readonly targetPolicy?: TargetPolicy;
  /** Those of the endpoints and subscriptions of an environment; the directory has its own. */
  readonly quotas?: Quotas;
  /** Left out in processes that serve no requests. */
  readonly directory?: Directory;
  /** Left out in processes that serve no requests. */
  readonly clocks?: FollowedClocks;
  /** Left out where there is no broker to ask. */
  readonly broker?: EventBroker | undefined;
  /** Left out where downstream systems get no credentials. */
  readonly gateway?: EventGateway | undefined;
  /** The place of files; left out in processes that serve no requests. */
  readonly files?: FileStore | null;
  /** The gateway that takes cards; left out where an installation has none. */
  readonly paymentProvider?: PaymentProvider | null;
  /** The address of the API of Stripe, where it is not its own. */
  readonly stripeApiUrl?: string | undefined;
  /** The folder of exports to local folders, where this process has it. */
  readonly exportFolder?: string | null;
}

const withoutSecrets = (): never => {
  throw new BrokenInvariant('this process has no secret key');
};

const noSealer: Sealer = { keyId: '', seal: withoutSecrets, open: withoutSecrets };

const noBroker: EventBroker = {
  read: refusedByNobody,
  lastPosition: refusedByNobody,
  ensureReader: refusedByNobody,
  readerStatus: refusedByNobody,
  removeReader: refusedByNobody,
};

function refusedByNobody(): Promise<never> {
  const message = 'Public events are not available here: NATS_URL is not set.';
  return Promise.reject(new Problem('service_unavailable', message, { retryAfterSeconds: 60 }));
}

/** The business, lower slices first: a slice knows only those that stand before it. */
const businessModules = ({
  secrets,
  directory,
  clocks,
  gateway,
  paymentProvider = null,
  files = null,
  targetPolicy = strictTargetPolicy,
  stripeApiUrl,
  exportFolder = null,
}: ModulesOptions): readonly Module[] => [
  tenancy({ keyMaterial: secrets?.keyMaterial ?? null, directory }),
  taxes,
  settings,
  customers,
  taxAssociations,
  meters,
  groups,
  pricingUnits,
  features,
  entitlements({ grantsOf }),
  offersWith(ofSubscriptions),
  coupons,
  catalogTransfer,
  environmentClones({ directory }),
  environmentClocks({ clocks }),
  walletsWith(purchasedAtOnce),
  usage({ grantsOf, chargesOf, gateway: gateway ?? null }),
  entitlementChecks({ grantsOf }),
  subscriptionsWith(invoicingWith(collectingAtOnce({ provider: paymentProvider }))),
  invoices,
  taxProviders({ sealer: secrets?.sealer ?? noSealer, policy: targetPolicy }),
  ongoingBalancesModule,
  payments({ provider: paymentProvider }),
  stripe({
    sealer: secrets?.sealer ?? noSealer,
    apiUrl: stripeApiUrl,
    isOn: paymentProvider !== null,
  }),
  creditNotes,
  rerating,
  whatIf,
  costAnalyticsModule,
  documents({ secret: secrets?.documentSecret ?? null }),
  connections({ sealer: secrets?.sealer ?? noSealer }),
  scheduledTasks({ policy: targetPolicy, columnsOf: exportColumnsOf }),
  exportsModule({
    sealer: secrets?.sealer ?? noSealer,
    policy: targetPolicy,
    folder: exportFolder,
  }),
  tasks({ files, policy: targetPolicy }),
  alertLog,
  workflows,
  checkpoints,
];

/** All slices. Those that are about events of others come last. */
export function modules(options: ModulesOptions): readonly Module[] {
  const { secrets, targetPolicy, broker, gateway, quotas = defaultQuotas } = options;
  const business = businessModules(options);
  const publishersOf = (slices: readonly Module[]) =>
    slices.flatMap(({ publicEvents }) => publicEvents);
  const delivery = webhooks({
    sealer: secrets?.sealer ?? noSealer,
    policy: targetPolicy ?? strictTargetPolicy,
    publicEvents: publishersOf(business),
    feed: broker ?? null,
    maximumEndpoints: quotas.webhookEndpoints,
  });
  const published = publishersOf([...business, delivery]);
  const following = events({
    publicEvents: published,
    broker: broker ?? noBroker,
    gateway: gateway ?? null,
    maximumSubscriptions: quotas.eventSubscriptions,
  });
  return [...business, delivery, following];
}
