import {
  createdStamps,
  instantSchema,
  metadataSchema,
  type RecordStamps,
  referenceSchema,
  type Stamp,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Granted, grantedData } from '../entitlements/granted.ts';

/** A part of the life of a subscription with lines and entitlements of its own, as events carry it (E 10.8). */
export const phaseData = z.object({
  id: referenceSchema('phase'),
  start_date: instantSchema,
  /** Until right before here, where the next one begins; null: as long as the subscription. */
  end_date: instantSchema.nullable(),
  metadata: metadataSchema,
  /** In the place of others while it lasts. */
  entitlements: z.array(grantedData),
});
export type PhaseData = z.output<typeof phaseData>;

/** A phase that a subscription has, had, or will have. */
export interface Phase extends PhaseData, RecordStamps {
  readonly has_begun: boolean;
}

/** A phase that is agreed on. The first one begins with the subscription. */
export const newPhase = (data: PhaseData, stamp: Stamp, has_begun: boolean): Phase => ({
  ...data,
  ...createdStamps(stamp),
  has_begun,
});

/** The phase that runs; null where there is none. */
export const runningPhase = (phases: readonly Phase[]): Phase | null =>
  phases.findLast(({ has_begun }) => has_begun) ?? null;

/** The phases that are to come. */
export const comingPhases = (phases: readonly Phase[]): readonly Phase[] =>
  phases.filter(({ has_begun }) => !has_begun);

/** The entitlements that the phase that runs gives in the place of others. */
export const phaseEntitlements = (phases: readonly Phase[]): readonly Granted[] =>
  runningPhase(phases)?.entitlements ?? [];
