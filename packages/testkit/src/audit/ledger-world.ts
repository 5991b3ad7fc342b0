import { type ExportOptions, ledgerLines } from '@counterfoil/cli/export';
import { createStreams, grownTree, signingKeyFrom, systemContext } from '@counterfoil/engine';
import {
  type AnyAggregate,
  type DecimalText,
  type EnvironmentId,
  type Instant,
  instantOf,
  Problem,
  type TenantId,
  type WalletId,
} from '@counterfoil/kernel';
import { type Checkpoint, customer, ledgerCheckpoint, takeCheckpoint } from '@counterfoil/modules';
import { createWallet, type WalletDecision } from '../../../modules/src/wallets/decisions.ts';
import type { CreatedData, TransactionReason } from '../../../modules/src/wallets/events.ts';
import type { EntryDetails, Load } from '../../../modules/src/wallets/ledger/entries.ts';
import { wallet } from '../../../modules/src/wallets/wallet.ts';
import { MemoryStore } from '../memory-store.ts';

/** The key that signs the checkpoints of every world. */
export const signingKey = signingKeyFrom(Buffer.alloc(32, 7));

const start = Date.parse('2026-01-01T00:00:00.000Z');
export const tenantId = 'tenant_01' as TenantId;
export const environmentId = 'env_01' as EnvironmentId;

/** Instants of the story: so many seconds after it began. */
export const second = (seconds: number): Instant => instantOf(start + seconds * 1000);

export const text = (value: string): DecimalText => value as DecimalText;

export const details = (reason: TransactionReason = 'MANUAL_BALANCE_DEBIT'): EntryDetails => ({
  reason,
  referenceType: null,
  referenceId: null,
  description: null,
  idempotencyKey: null,
  metadata: {},
});

export const load = (credits: string, options: Partial<Load> = {}): Load => ({
  ...details('FREE_CREDIT_GRANT'),
  quantity: { credits: text(credits) },
  priority: null,
  expiresAt: null,
  ...options,
});

export const creation = (id: string, overrides: object = {}): WalletDecision =>
  createWallet(
    {
      id,
      customer_id: `cust_${id}_1`,
      currency: 'usd',
      conversion_rate: '0.5',
      topup_conversion_rate: '3',
      wallet_type: 'PRE_PAID',
      name: 'Wallet',
      description: null,
      metadata: {},
      config: { allowed_price_types: ['ALL'] },
      alert_settings: null,
      auto_topup: null,
      ...overrides,
    } as unknown as CreatedData,
    null,
  );

/** The customers of these wallets are nowhere: the worlds are about ledgers alone. */
const anyCustomer: AnyAggregate = { ...(customer as AnyAggregate), isReferable: () => true };

/**
 * Wallets in a log in memory, written by the production code, for tests of the programs that read
 * their ledgers.
 */
export function ledgerWorld() {
  const store = new MemoryStore();
  const clock = { seconds: 0 };
  const streams = createStreams({
    store,
    aggregates: [anyCustomer, wallet, ledgerCheckpoint],
    now: () => start + clock.seconds * 1000,
  });
  const context = systemContext(streams, { tenantId, environmentId, correlationId: 'test' });
  return {
    store,
    streams,
    context,
    clock,
    /** Runs a decision one second later; false when it is refused. */
    async run(id: string, decision: WalletDecision): Promise<boolean> {
      clock.seconds += 1;
      try {
        await context.execute(wallet, id, decision);
        return true;
      } catch (error) {
        if (error instanceof Problem) return false;
        throw error;
      }
    },
    /** Takes a checkpoint; null when there is nothing new. */
    async checkpoint(): Promise<Checkpoint | null> {
      clock.seconds += 1;
      const basis = await context.load(ledgerCheckpoint, environmentId);
      return takeCheckpoint(
        {
          context,
          key: signingKey,
          grown: (prefix, before) => grownTree(store, prefix, before),
        },
        basis,
        { tenantId, environmentId },
      );
    },
    async exported(id: string, proofs: Partial<ExportOptions> = {}): Promise<string[]> {
      const lines: string[] = [];
      const options = { walletId: id as WalletId, environmentId, ...proofs };
      for await (const line of ledgerLines(store, options)) lines.push(line);
      return lines;
    },
  };
}
export type LedgerWorld = ReturnType<typeof ledgerWorld>;
