import {
  type Instant,
  lastInstant,
  metadataSchema,
  type RecordStamps,
  referenceSchema,
  type Span,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { PauseSpan } from '../settlement/index.ts';
import { pauseModeSchema, type pauseStatusSchema, resumeModeSchema } from '../values.ts';

const instant = z.string().transform((text) => text as Instant);

/** A pause as it is ordered (D49). */
export const pauseData = z.object({
  id: referenceSchema('pause'),
  pause_mode: pauseModeSchema,
  resume_mode: resumeModeSchema,
  start: instant,
  /** Null: until somebody resumes it. */
  end: instant.nullable(),
  /** True where usage in it is billed all the same. */
  bills_usage: z.boolean(),
  /** The period that ran when it was ordered; null between two. */
  original_period: z.object({ start: instant, end: instant }).nullable(),
  reason: z.string().nullable(),
  metadata: metadataSchema,
});
export type PauseData = z.output<typeof pauseData>;

/** A pause of a subscription: the scheduled and the active one, and those that are over. */
export interface Pause extends PauseData, RecordStamps {
  readonly status: Exclude<z.output<typeof pauseStatusSchema>, 'none'>;
  readonly resumed_at: Instant | null;
}

/** Pauses that a subscription can have in its life. */
export const maximumPauses = 100;

type Pausing = { readonly pauses: readonly Pause[] };

/** The pause that runs or is to come; null for none. There is one at most. */
export const pendingPause = ({ pauses }: Pausing): Pause | null =>
  pauses.find(({ status }) => status === 'active' || status === 'scheduled') ?? null;

/** The stretches of time in which a subscription was paused. */
export const pausedSpans = ({ pauses }: Pausing): readonly PauseSpan[] =>
  pauses.flatMap(({ status, start, end, bills_usage }) =>
    status === 'completed' && end !== null ? [{ start, end, bills_usage }] : [],
  );

/** The pauses whose usage is not billed, that one included which runs: it lasts for ever as far as is known. */
export const unbilledPauses = ({ pauses }: Pausing): readonly Span[] =>
  pauses.flatMap(({ status, start, end, bills_usage }) => {
    if (bills_usage || (status !== 'completed' && status !== 'active')) return [];
    return { start, end: end ?? lastInstant };
  });

/** A pause as its beginning is recorded. */
export const dataOf = ({
  id,
  pause_mode,
  resume_mode,
  start,
  end,
  bills_usage,
  reason,
  metadata,
}: Pause): Omit<PauseData, 'original_period'> => ({
  id,
  pause_mode,
  resume_mode,
  start,
  end,
  bills_usage,
  reason,
  metadata,
});
