import type { AskingContext, ReadStreams } from '@counterfoil/engine/define';
import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import { allUsageAt, computedAgain, type UsageAt } from '../computing-again/again.ts';
import type { FigureDifference } from '../computing-again/differences.ts';
import { recordedInvoice } from '../computing-again/recorded.ts';

/** An invoice that was made final, as it was found to be. */
export interface ProvenInvoice {
  readonly invoice_id: string;
  /** Null for one that was skipped, because there was nothing to bill. */
  readonly invoice_number: string | null;
  readonly differences: readonly FigureDifference[];
  /** The reason why it cannot be computed again; null where it can. */
  readonly problem: string | null;
}

/**
 * Computes an invoice again from the log as it was, and holds it against what was recorded (ADR 49). What can be read and does not make
 * sense is a finding; what cannot be read now throws.
 */
export async function proveInvoice(
  context: AskingContext,
  id: string,
  read: ReadStreams,
  at: UsageAt = allUsageAt,
): Promise<ProvenInvoice> {
  const found = { invoice_id: id, invoice_number: null, differences: [], problem: null };
  try {
    const recorded = await recordedInvoice(context, id);
    if (recorded === null) return { ...found, problem: 'it has no figures' };
    const { invoice_number } = recorded.invoice;
    try {
      const sources = { usageAt: at, read, trustsWallets: true };
      const { differences } = await computedAgain(context, recorded, sources);
      return { ...found, invoice_number, differences };
    } catch (error) {
      return { ...found, invoice_number, problem: problemOf(error) };
    }
  } catch (error) {
    return { ...found, problem: problemOf(error) };
  }
}

/** The sentence in which a failure speaks of the invoice. Throws it again where it says something of the servers. */
function problemOf(error: unknown): string {
  if (error instanceof BrokenInvariant) return error.message;
  if (error instanceof Problem && error.code !== 'service_unavailable') return error.message;
  throw error;
}
