import type { LineCommitmentData, SubscriptionCommitmentData } from './commitment.ts';

/** The commitment of a line as it is shown; members that it has not are null. */
export const shownLineCommitment = (commitment: LineCommitmentData | null) => ({
  commitment_type: commitment?.committed.kind ?? null,
  commitment_amount: commitment?.committed.kind === 'amount' ? commitment.committed.amount : null,
  commitment_quantity:
    commitment?.committed.kind === 'quantity' ? commitment.committed.quantity : null,
  commitment_overage_factor: commitment?.overage_factor ?? null,
  commitment_true_up_enabled: commitment?.true_up ?? false,
  commitment_windowed: commitment?.windowed ?? false,
  commitment_duration: commitment?.duration ?? null,
});

/** That of a subscription. */
export const shownCommitment = (commitment: SubscriptionCommitmentData | null) => ({
  commitment_amount: commitment?.amount ?? null,
  commitment_duration: commitment?.duration ?? null,
  overage_factor: commitment?.overage_factor ?? '1',
  enable_true_up: commitment?.true_up ?? false,
});
