import type { Module } from '@counterfoil/engine/define';
import { BrokenInvariant } from '@counterfoil/kernel';
import { customers } from './customers/index.ts';
import type { customerRoutes } from './customers/routes.ts';
import type { Secrets } from './secrets.ts';
import { tenancy } from './tenancy/index.ts';
import type { tenancyRoutes } from './tenancy/routes.ts';
import { openWalletsOf, wallets } from './wallets/index.ts';
import type { walletRoutes } from './wallets/routes.ts';
import { type Sealer, strictTargetPolicy, type TargetPolicy, webhooks } from './webhooks/index.ts';
import type { webhookRoutes } from './webhooks/routes.ts';

export * from './customers/index.ts';
export * from './secrets.ts';
export * from './tenancy/index.ts';
export * from './wallets/index.ts';
export * from './webhooks/index.ts';

/** The routes of all slices with their exact types: what the typed client is made of. */
export type ApiRoutes = ReturnType<typeof tenancyRoutes> &
  ReturnType<typeof customerRoutes> &
  typeof walletRoutes &
  ReturnType<typeof webhookRoutes>;

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
  wallets,
  webhooks({ sealer: secrets?.sealer ?? noSealer, policy: targetPolicy ?? strictTargetPolicy }),
];
