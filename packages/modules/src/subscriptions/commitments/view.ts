import type { LineCommitmentData, SubscriptionCommitmentData } from './commitment.ts';
import { shownTimeBuckets } from './time-buckets.ts';

/** The commitment of a line as it is shown; members that it has not are null. `priceOf` shows its price with other figures. */
export const shownLineCommitment = (
  commitment: LineCommitmentData | null,
  priceOf: Parameters<typeof shownTimeBuckets>[1],
) => ({
  ...shownCommitted(commitment?.committed ?? null),
  commitment_overage_factor: commitment?.committed ? commitment.overage_factor : null,
  commitment_true_up_enabled: commitment?.true_up ?? false,
  commitment_windowed: commitment?.windowed ?? false,
  commitment_duration: commitment?.duration ?? null,
  commitment_time_buckets:
    commitment && commitment.time_buckets.length > 0
      ? shownTimeBuckets(commitment.time_buckets, priceOf)
      : null,
});

const shownCommitted = (committed: LineCommitmentData['committed']) => ({
  commitment_type: committed?.kind ?? null,
  commitment_amount: committed?.kind === 'amount' ? committed.amount : null,
  commitment_quantity: committed?.kind === 'quantity' ? committed.quantity : null,
});

/** That of a subscription. */
export const shownCommitment = (commitment: SubscriptionCommitmentData | null) => ({
  commitment_amount: commitment?.amount ?? null,
  commitment_duration: commitment?.duration ?? null,
  overage_factor: commitment?.overage_factor ?? '1',
  enable_true_up: commitment?.true_up ?? false,
});
