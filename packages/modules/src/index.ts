import type { Module } from '@counterfoil/engine/define';
import { BrokenInvariant } from '@counterfoil/kernel';
import { type CheckpointRoutes, checkpoints } from './checkpoints/index.ts';
import { type CustomerRoutes, customers } from './customers/index.ts';
import { type GroupRoutes, groups } from './groups/index.ts';
import { type MeterRoutes, meters } from './meters/index.ts';
import { type PriceUnitRoutes, pricingUnits } from './pricing-units/index.ts';
import type { Secrets } from './secrets.ts';
import { type TenancyRoutes, tenancy } from './tenancy/index.ts';
import { openWalletsOf, type WalletRoutes, wallets } from './wallets/index.ts';
import {
  type Sealer,
  strictTargetPolicy,
  type TargetPolicy,
  type WebhookRoutes,
  webhooks,
} from './webhooks/index.ts';

export * from './checkpoints/index.ts';
export * from './customers/index.ts';
export * from './groups/index.ts';
export * from './meters/index.ts';
export * from './pricing-units/index.ts';
export * from './secrets.ts';
export * from './tenancy/index.ts';
export * from './wallets/index.ts';
export * from './webhooks/index.ts';

/** The routes of all slices with their exact types: what the typed client is made of. */
export type ApiRoutes = TenancyRoutes &
  CustomerRoutes &
  MeterRoutes &
  GroupRoutes &
  PriceUnitRoutes &
  WalletRoutes &
  WebhookRoutes &
  CheckpointRoutes;

/** What the slices need from outside. */
export interface ModulesOptions {
  /** Null in processes that serve no requests, such as the projector. */
  readonly secrets: Secrets | null;
  readonly targetPolicy?: TargetPolicy;
}

const withoutSecrets = (): never => {
  throw new BrokenInvariant('this process has no secret key');
};

const noSealer: Sealer = { keyId: '', seal: withoutSecrets, open: withoutSecrets };

/** All slices, lower ones first: a slice knows only those that stand before it. */
export const modules = ({ secrets, targetPolicy }: ModulesOptions): readonly Module[] => [
  tenancy({ keyMaterial: secrets?.keyMaterial ?? null }),
  customers({ inUse: [openWalletsOf] }),
  meters({ inUse: [] }),
  groups({ members: [] }),
  pricingUnits({ inUse: [] }),
  wallets,
  checkpoints,
  webhooks({ sealer: secrets?.sealer ?? noSealer, policy: targetPolicy ?? strictTargetPolicy }),
];
